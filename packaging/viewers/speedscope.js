// Imports a profile as speedscope's page does, and prints the name and the total weight of each of its profiles.
// The importer is inside the script of the page, which runs here without a browser up to the place where it would draw.
// Arguments: the folder of the page's files, the profile.
const fs = require('fs'), path = require('path'), vm = require('vm');
const [folder, profile] = process.argv.slice(2);
const script = fs.readdirSync(folder).find((name) => /^speedscope-.*\.js$/.test(name));
const source = fs.readFileSync(path.join(folder, script), 'utf8');
const importer = /return\(await (\w+)\)\.importProfileGroupFromText\(/.exec(source);
const begin = source.lastIndexOf('console.log(`speedscope v');
if (!importer || begin < 0) throw new Error(`${script}: the importer is not where it was in 1.25.0`);
const exporting = `globalThis.importer=${importer[1]};throw new Error("no browser");`;

// Answers for everything that only a browser has.
const anything = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => '' : key === 'then' ? undefined : anything),
  apply: () => anything,
  construct: () => anything,
  set: () => true,
});
const page = { TextDecoder, TextEncoder, URL, Promise, performance, setTimeout, clearTimeout };
for (const name of ['document', 'navigator', 'location', 'localStorage', 'matchMedia', 'requestAnimationFrame', 'addEventListener'])
  page[name] = anything;
page.console = { ...console, log: () => {} };
page.window = new Proxy(page, { get: (known, key) => (key in known ? known[key] : anything) });
page.globalThis = page.self = page;
vm.createContext(page);
try {
  vm.runInContext(source.slice(0, begin) + exporting + source.slice(begin), page);
} catch (error) {
  if (error.message !== 'no browser') throw error;
}

(async () => {
  const { importProfileGroupFromText } = await page.importer;
  const group = await importProfileGroupFromText(profile, fs.readFileSync(profile, 'utf8'));
  if (!group) throw new Error(`${profile}: speedscope does not know this format`);
  for (const one of group.profiles) console.log(`${one.getTotalWeight()}\t${one.getName()}`);
})();
