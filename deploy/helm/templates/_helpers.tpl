{{- define "postern.name" -}}
{{- $name := printf "%s-postern" .Release.Name -}}
{{- if contains "postern" .Release.Name }}{{ $name = .Release.Name }}{{ end -}}
{{- /* A Service has at most 63 characters, and "-metrics" follows in one of them. */ -}}
{{- $name | trunc 55 | trimSuffix "-" -}}
{{- end }}

{{- define "postern.selector" -}}
app.kubernetes.io/name: postern
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "postern.labels" -}}
{{ include "postern.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "postern.secret" -}}
{{- if .Values.existingSecret }}
{{- if .Values.secret }}{{ fail "set existingSecret or secret, not both" }}{{ end }}
{{- .Values.existingSecret }}
{{- else }}
{{- range $name := list "DATABASE_URL" "SECRET_KEY" }}
{{- if not (get $.Values.secret $name) }}{{ fail (printf "set existingSecret, or secret.%s" $name) }}{{ end }}
{{- end }}
{{- include "postern.name" . }}
{{- end }}
{{- end }}
