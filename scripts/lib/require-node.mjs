// The scripts import this first, and everything else later and dynamically. An old Node.js parses static imports before it
// runs this, and would fail with a syntax error.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Postern needs Node.js 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(1);
}
