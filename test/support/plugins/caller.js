// An authenticator that asks a service, whose URL is in AUTHENTICATOR_URL.
export default ({ env, fetch }) => ({
  name: 'caller',
  steps: 1,
  async verify() {
    const { status } = await fetch(env.AUTHENTICATOR_URL, { method: 'POST', body: 'a question' });
    return status === 200;
  },
});
