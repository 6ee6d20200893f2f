export default () => ({ name: 'password', steps: 1, verify: () => true });
