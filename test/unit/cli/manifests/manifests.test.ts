import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { systemRandom } from '../../../../src/base/random.ts';
import { noFeatures } from '../../../../src/cli/ctl-features.ts';
import { Flags, fileFlags } from '../../../../src/cli/flags/flags.ts';
import {
  type ManifestEntry,
  parseManifests,
  readManifests,
} from '../../../../src/cli/manifests/manifests.ts';
import type { CtlIo } from '../../../../src/cli/verb.ts';

const brief = (entries: readonly ManifestEntry[]) =>
  entries.map((entry) => ('error' in entry ? entry.error.message : `${entry.kind} at ${entry.line}`));
const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;

const texts: [what: string, text: string, expected: (string | RegExp)[]][] = [
  ['nothing', '', []],
  ['comments alone', '# a\n---\n# b\n', []],
  [
    'two documents',
    `# first\n${configMap('a')}---\n\n${configMap('b')}`,
    ['ConfigMap at 2', 'ConfigMap at 7'],
  ],
  ['a document behind the dashes', `--- {apiVersion: v1, kind: Pod}\n`, ['Pod at 1']],
  ['Windows line ends', configMap('a').replaceAll('\n', '\r\n'), ['ConfigMap at 1']],
  ['JSON', '{"apiVersion": "v1", "kind": "Pod"}', ['Pod at 1']],
  ['a mapping in flow style', '{apiVersion: v1, kind: Pod,}', ['Pod at 1']],
  [
    'JSON with a comma too many, named by the bytes before it',
    '{"apiVersion": "v1", "kind": "Pod",\n "metadata": {"name": "ä"},}',
    ['error parsing f.yaml: json: offset 65: expected a key in double quotes, found "}" (line 2, column 28)'],
  ],
  [
    'JSON with a comment in its second document',
    '{"apiVersion": "v1", "kind": "Pod"}\n---\n{"apiVersion": "v1", # x\n"kind": "Pod"}',
    ['Pod at 1', /^error parsing f\.yaml: json: offset \d+: expected a key in double quotes, found "#"/],
  ],
  [
    'JSON objects one after another, on lines of their own and on one line',
    '{"kind": "Pod"}\n{"kind": "Secret", "a": "}{\\"["}{"kind": "Node",\n"b": [{}]}\n\n{"kind": "Job"}\n',
    ['Pod at 1', 'Secret at 2', 'Node at 2', 'Job at 5'],
  ],
  [
    'JSON objects one after another in several documents',
    '{"kind": "Pod"}{"kind": "Secret"}\n---\n{"kind": "Node"}\n{"kind": "Job"}',
    ['Pod at 1', 'Secret at 1', 'Node at 3', 'Job at 4'],
  ],
  [
    'JSON with other text after it; what came before stays',
    '{"kind": "Pod"}\n{"kind": "Job"} # end\n',
    [
      'Pod at 1',
      'Job at 2',
      'error parsing f.yaml: json: offset 33: expected a value, found "#" (line 2, column 17)',
    ],
  ],
  [
    'JSON whose second object is not closed',
    '{"kind": "Pod"}\n{"kind": "Job"',
    ['Pod at 1', /^error parsing f\.yaml: json: offset 30: .*\(line 2, column 14\)$/],
  ],
  [
    'a key twice in the second object',
    '{"kind": "Pod"}\n{"kind": "Job",\n"kind": "Job"}',
    ['Pod at 1', 'f.yaml:2: the key kind is given twice; keep one'],
  ],
  [
    'a List',
    'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- {apiVersion: v1, kind: Secret}\n',
    ['Pod at 1', 'Secret at 1'],
  ],
  [
    'a list of one kind, as a server sends it: its items have no type of their own',
    'apiVersion: v1\nkind: ConfigMapList\nitems:\n- {metadata: {name: a}}\n- {apiVersion: v1, kind: Pod}\n',
    ['ConfigMap at 1', 'Pod at 1'],
  ],
  [
    'an anchor that contains itself',
    `a: &x {b: [*x]}\n`,
    ['error parsing f.yaml:1: invalid YAML: the anchor x contains itself'],
  ],
  [
    'a merge of a map into itself',
    `a: &x {<<: *x}\n`,
    ['error parsing f.yaml:1: invalid YAML: the anchor x contains itself'],
  ],
  [
    'thousands of nested maps',
    `a: ${'{a: '.repeat(5000)}1${'}'.repeat(5000)}\n`,
    ['error parsing f.yaml:1: nested too deeply'],
  ],
  [
    'what is no YAML, named by its line; what came before stays',
    `${configMap('a')}---\nkind: Pod\nmetadata:\n\tname: x\n---\n${configMap('c')}`,
    ['ConfigMap at 1', /^error parsing f\.yaml:7: /],
  ],
  ['a kind that is missing', 'apiVersion: v1\n', [/^f\.yaml:1: kind is missing/]],
  ['a version that is missing: the server knows which it is', '\n---\nkind: Pod\n', ['Pod at 3']],
  ['a text', 'hello\n', [/^f\.yaml:1: expected an object/]],
  ['a control character', 'kind: "a\u0001"\n', [/^error parsing f\.yaml: it is binary or not UTF-8/]],
  ['a list', '- kind: Pod\n', [/^f\.yaml:1: expected an object/]],
  ['a key that stands twice', `${configMap('a')}kind: Pod\n`, [/^f\.yaml:1: the key kind is given twice/]],
];
for (const [what, text, expected] of texts) {
  test(`a text has the expected manifests and errors: ${what}`, () => {
    const found = brief(parseManifests(text, 'f.yaml', () => {}));
    assert.equal(found.length, expected.length, found.join('\n'));
    expected.forEach((one, index) => {
      if (typeof one === 'string') assert.equal(found[index], one);
      else assert.match(found[index] ?? '', one);
    });
  });
}

test('a word that YAML reads as a boolean causes a warning with line and field', () => {
  const warnings: string[] = [];
  const text = `${configMap('a')}---\nkind: Pod\nmetadata:\n  labels:\n    app: y\n    No: "off"\nhostNetwork: true\n`;
  parseManifests(text, 'f.yaml', (warning) => warnings.push(warning));
  assert.deepEqual(warnings, [
    'f.yaml:8: metadata.labels.app: YAML reads y as true; write "y" for the word',
    'f.yaml:9: the key metadata.labels.false: YAML reads No as false; write "No" for the word',
  ]);
});

const io: CtlIo = {
  out() {},
  err() {},
  readStdin: async () => configMap('stdin'),
  stdio: () => process,
  env: {},
  homeDirectory: '/nonexistent',
  clock: systemClock,
  random: systemRandom,
  features: noFeatures,
  kubernetesFields: async () => kubernetesFields,
  signal: new AbortController().signal,
  exitWith() {},
};
const read = (...argv: string[]) => readManifests(io, new Flags(fileFlags, argv));

test('directories are read in order, subdirectories only with -R; -f may be repeated', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'ctl-manifests-'));
  context.after(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'c'));
  mkdirSync(join(directory, 'empty'));
  const files = { 'b.yaml': 'Pod', 'a.json': 'Secret', 'notes.txt': 'No', 'c/d.yml': 'Node' };
  for (const [file, kind] of Object.entries(files))
    writeFileSync(join(directory, file), `{"apiVersion": "v1", "kind": "${kind}"}`);
  const kinds = async (...argv: string[]) =>
    brief(await read(...argv)).map((text) => text.replace(/ at .*/, ''));
  assert.deepEqual(await kinds('-f', directory), ['Secret', 'Pod']);
  assert.deepEqual(await kinds('-R', '-f', directory), ['Secret', 'Pod', 'Node']);
  const b = join(directory, 'b.yaml');
  assert.deepEqual(await kinds(`-f=${b}`, '--filename', '-', '-f', join(directory, 'c')), [
    'Pod',
    'ConfigMap',
    'Node',
  ]);
  assert.match((await kinds('-f', join(directory, 'empty')))[0] ?? '', /recognized file extensions are/);
  assert.deepEqual(await kinds('-f', join(directory, 'nope')), [
    `the path "${join(directory, 'nope')}" does not exist`,
  ]);
  writeFileSync(b, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]));
  assert.deepEqual(await kinds('-f', b), [
    `error parsing ${b}: it is binary or not UTF-8: expected YAML or JSON`,
  ]);
  writeFileSync(b, Buffer.from('# caf\xe9\n', 'latin1'));
  assert.match((await kinds('-f', b))[0] ?? '', /it is binary or not UTF-8/);
});
