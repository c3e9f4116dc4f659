/**
 * Functions of other small systems: each is converted from files on disk and called through the program that
 * its instances run.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { parseYaml } from '../../../src/apimachinery/yaml.ts';
import { ctlFor } from '../../fixtures/ctl.ts';
import { startFunction } from '../../fixtures/function-program.ts';

const folder = await mkdtemp(join(tmpdir(), 'minik8s-convert-'));
after(() => rm(folder, { recursive: true }));

interface Converted {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly handler: string;
    readonly files: Record<string, string>;
    readonly runtime?: string;
    readonly metric?: string;
    readonly target?: number;
    readonly windowSeconds?: number;
  };
}

async function place(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const ctl = ctlFor(undefined);

/** Returns the output of `ctl convert` for a manifest in the folder. */
async function convert(manifest: string) {
  const { status, out, err } = await ctl(['convert', '-f', join(folder, manifest)]);
  return { object: status === 0 ? (parseYaml(out).value as unknown as Converted) : undefined, err };
}

async function converted(manifest: string) {
  const { object, err } = await convert(manifest);
  assert.ok(object, err);
  return { ...object.spec, name: object.metadata.name, stderr: err };
}

/** Returns the answers of the instances to these bodies. */
async function answers(
  { handler, files }: Converted['spec'],
  ...calls: readonly { readonly body?: unknown; readonly path?: string }[]
): Promise<unknown[]> {
  const program = await startFunction('python', files, { FUNCTION_HANDLER: handler });
  try {
    const found: unknown[] = [];
    for (const call of calls) found.push((await program.call(call)).json());
    return found;
  } finally {
    await program.close();
  }
}

test('a file with def NAME(event, context) and a list of libraries is converted', async () => {
  await place({
    'a/fn.yaml':
      'apiVersion: v1\nkind: Function\nmetadata:\n  name: add_up\nfunctionPath: ./src/add.py\nrequirementPath: req.txt\n',
    'a/src/add.py':
      'def other(x):\n    return x\n\ndef add_up(event, context):\n    return {"sum": event["a"] + event["b"]}\n',
    'a/req.txt': 'six==1.17.0\n',
  });
  const { name, stderr, ...spec } = await converted('a/fn.yaml');
  assert.equal(name, 'add-up');
  assert.match(stderr, /^Note: .*fn\.yaml:1: metadata\.name: add_up becomes add-up\n$/);
  assert.deepEqual(Object.keys(spec.files).sort(), ['add.py', 'requirements.txt']);
  assert.equal(spec.files['requirements.txt'], 'six==1.17.0\n');
  assert.deepEqual(await answers(spec, { body: { a: 1, b: 2 } }), [{ sum: 3 }]);
  assert.deepEqual(
    [spec.runtime, spec.metric, spec.target, spec.windowSeconds],
    ['python', 'Requests', 5, 30],
  );
});

test('a folder with main(params) in func.py is converted', async () => {
  await place({
    'b/fn.yaml':
      'apiVersion: v1\nkind: Function\nmetadata:\n  name: up\n  namespace: shop\nspec:\n  userUploadFilePath: up\n',
    'b/up/func.py':
      'from words import loud\n\ndef main(params):\n    return {"text": loud(params["text"])}\n',
    'b/up/words.py': 'def loud(text):\n    return text.upper()\n',
    'b/up/requirement.txt': 'six\n',
  });
  const spec = await converted('b/fn.yaml');
  assert.deepEqual(Object.keys(spec.files).sort(), ['func.py', 'requirements.txt', 'words.py']);
  assert.deepEqual(await answers(spec, { body: { text: 'hi' } }), [{ text: 'HI' }]);
});

test('an activity is converted, and gets the query and the body', async () => {
  await place({
    'c/fn.yaml': 'kind: activity\nname: who\nversion: 3\nfunction: who.py\n',
    'c/who.py': 'def handler(env):\n    return [env.uri.get("name"), env.body["n"]]\n',
  });
  const spec = await converted('c/fn.yaml');
  assert.match(spec.stderr, /version: left out: each change of the program creates a version/);
  assert.deepEqual(await answers(spec, { path: '/?name=me', body: { n: 7 } }), [['me', 7]]);
});

test('a command with an argument is converted, and its output is the answer', async () => {
  await place({
    'd/fn.json': JSON.stringify({
      name: 'half',
      image: 'python:3',
      hostPath: 'code',
      functionFile: 'half.py',
      command: 'python half.py',
    }),
    'd/code/half.py':
      'import sys\ntext = sys.argv[1]\nprint(text + "?" if text == "word" else int(text) // 2)\n',
  });
  const spec = await converted('d/fn.json');
  assert.match(spec.stderr, /image: left out: the program runs in the image of the runtime python/);
  assert.deepEqual(await answers(spec, { body: '"word"' }, { body: '10' }), ['word?', 5]);
});

for (const [what, manifest, files, message] of [
  ['a file that does not exist', 'functionPath: none.py', {}, /there is no file or folder .*none\.py/],
  [
    'a file without a function of the configured name',
    'functionPath: f.py',
    { 'f.py': 'x = 1\n' },
    /functionPath: there is no def f\(event, context\) in it/,
  ],
  ['a manifest that names no program', 'replicas: 1', {}, /expected the program of the function/],
  ['a folder without func.py', 'userUploadFilePath: up', { 'up/x.py': '' }, /there is no func\.py in it/],
] as const)
  test(`${what} is not converted`, async () => {
    const at = `bad-${what.replaceAll(' ', '-')}`;
    await place({ [`${at}/fn.yaml`]: `kind: Function\nname: f\n${manifest}\n` });
    for (const [path, text] of Object.entries(files)) await place({ [`${at}/${path}`]: text });
    const { object, err } = await convert(`${at}/fn.yaml`);
    assert.equal(object, undefined);
    assert.match(err, message);
  });

test('a program that is a link to another place is not converted', async () => {
  await place({
    'e/fn.yaml': 'kind: Function\nname: f\nfunctionPath: f.py\n',
    'e/real.py': 'def f(a, b): pass\n',
  });
  await symlink(join(folder, 'e/real.py'), join(folder, 'e/f.py'));
  assert.match((await convert('e/fn.yaml')).err, /neither a folder nor a \.zip archive/);
});

for (const [owner, manifest] of [
  ['function', 'kind: Function\nname: f\nfunctionPath: large\n'],
  ['job', 'kind: Job\nname: j\nsubmitDirectory: large\nrunCommands: [ls]\n'],
] as const)
  test(`a folder that is too large for a ${owner} is refused with the limits of the ${owner}`, async () => {
    await place({ [`l/${owner}.yaml`]: manifest, 'l/large/data': 'x'.repeat(4_000_001) });
    const { err } = await convert(`l/${owner}.yaml`);
    assert.match(err, new RegExp(`it has more than 4000000 bytes; a ${owner} may have 1000000$`, 'm'));
  });
