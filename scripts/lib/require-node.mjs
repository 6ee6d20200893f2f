// The scripts import this first, and everything else only afterwards and dynamically: an old Node would parse a static
// import before it runs this, and stumble over its syntax without saying why.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Postern needs Node.js 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(1);
}
