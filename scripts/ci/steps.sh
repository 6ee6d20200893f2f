# For .ci/run and .ci/full: steps, runs of tests, and the summary. All steps run, even after a failure.
set -euo pipefail
export CI=true NO_COLOR=1

# Where the steps write their results. Removed at the end.
work=$(mktemp -d)
# The titles of the runs of tests, in order.
runs=()
# A line for each step that failed.
failures=()
begun=()
commands=()
background=()
postgres_pid=
postgres_home=

clean_up() {
  if [[ ${#background[@]} -gt 0 ]]; then kill "${background[@]}" 2>/dev/null || true; fi
  if [[ -n $postgres_pid ]]; then
    # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
    kill -INT "$postgres_pid" 2>/dev/null && wait "$postgres_pid" || true
  fi
  rm -rf "$work" "$postgres_home"
}
trap clean_up EXIT

# ended <title> <exit code> <seconds> <command> [file with the output]
ended() {
  if [[ $2 -eq 0 ]]; then
    printf -- '-- %s: passed in %d s\n' "$1" "$3"
    return
  fi
  printf -- '-- %s: FAILED in %d s\n' "$1" "$3"
  # A function of these scripts is no command that a person can type. The summary has the commands of failed tests.
  if [[ $(type -t "${4%% *}") == function ]]; then failures+=("$1"); else failures+=("$1. Repeat: $4"); fi
  # A log may be kept only in part.
  if [[ -n ${5-} ]]; then failures[-1]+=$'\n'$(tail -n 15 "$5"); fi
}

# step <title> <command...>
step() {
  local title=$1 since=$SECONDS code=0
  shift
  printf '\n== %s\n' "$title"
  "$@" || code=$?
  ended "$title" "$code" $((SECONDS - since)) "$*"
}

# begin <title> <command...>: a step beside the following ones, until `finish`. It cannot be a run of tests.
begin() {
  local title=$1 since=$SECONDS output=$work/step-${#background[@]}
  shift
  begun+=("$title")
  commands+=("$*")
  (
    set +e
    "$@"
    printf '%s %s\n' $? $((SECONDS - since)) >"$output.result"
  ) >"$output" 2>&1 </dev/null &
  background+=($!)
}

# Waits for the steps of `begin`, and prints their output.
finish() {
  local at result
  for at in "${!begun[@]}"; do
    wait "${background[at]}" || true
    printf '\n== %s\n' "${begun[at]}"
    cat "$work/step-$at"
    read -ra result <"$work/step-$at.result" || result=(1 0)
    ended "${begun[at]}" "${result[0]}" "${result[1]}" "${commands[at]}" "$work/step-$at"
    rm -f "$work/step-$at.result"
  done
  begun=()
  commands=()
  background=()
}

# tests <run> <command> <files and options of Vitest...>: a run of tests. The command is one word, such as 'CI_FULL=1 npm test --',
# which the summary repeats for a failed test.
tests() {
  local run=$1 command=$2
  shift 2
  runs+=("$run")
  printf '%s\n' "${TEST_DATABASE_URL+TEST_DATABASE_URL=postgres://… }$command" >"$work/$run.command"
  # shellcheck disable=SC2086 # The words of the command.
  env $command "$@" --reporter=default --reporter=./scripts/lib/hung-files.mjs --reporter=json --outputFile.json="$work/$run.json"
}

# Prints what failed, where, and how to repeat it alone. The last line has the totals of all runs. Fails if anything failed.
summary() {
  local failure
  printf '\n== Summary\n'
  for failure in "${failures[@]}"; do printf 'FAILED: %s\n' "$failure"; done
  node scripts/ci/sum-up.mjs "$work" "${runs[@]}" && [[ ${#failures[@]} -eq 0 ]]
}
