/**
 * The addition of a feature, step by step as CONTRIBUTING says, in a copy of the source: its folder, one
 * line in each list, the generated types. The compiler checks it, and its own test runs in the copy.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, it } from 'node:test';
import { promisify } from 'node:util';
import { featureFiles, featureLines, featureTest } from './notes.ts';

const repository = join(import.meta.dirname, '../../../..');
const testOfFeature = 'test/integration/features/notes/notes.test.ts';

let copy: string;
before(async () => {
  copy = await mkdtemp(join(tmpdir(), 'minik8s-new-feature-'));
  const parts = [
    ...['src', 'config', 'test/fixtures', 'test/integration/controllers/cluster.ts'],
    ...['package.json', 'tsconfig.json'],
  ];
  for (const part of parts) await cp(join(repository, part), join(copy, part), { recursive: true });
  await symlink(join(repository, 'node_modules'), join(copy, 'node_modules'));
});
after(() => rm(copy, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  const file = join(copy, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Inserts a text after another one, which the file has exactly once. */
async function insert(path: string, behind: string, text: string): Promise<void> {
  const before = await readFile(join(copy, path), 'utf8');
  assert.equal(before.split(behind).length, 2, `${path} has once: ${behind}`);
  await write(path, before.replace(behind, `${behind}${text}`));
}

/** Runs Node in the copy; rejects with its output if it fails. */
async function node(...args: readonly string[]): Promise<string> {
  // With this variable, which a test has, a further test reports in a form for the runner of this one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...args], { cwd: copy, env });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`node ${args.join(' ')} failed:\n${stdout}${stderr}`);
  }
}

it('a feature needs only its folder and one line in each list of src/features', async () => {
  for (const [path, text] of Object.entries(featureFiles)) await write(`src/features/notes/${path}`, text);
  for (const [path, lines] of Object.entries(featureLines))
    for (const [behind, line] of lines) await insert(`src/features/${path}`, behind, line);
  await write(testOfFeature, featureTest);

  await node('config/kubernetes-types/own-interfaces.ts');
  const types = await readFile(join(copy, 'src/features/notes/api/types.gen.ts'), 'utf8');
  assert.match(types, /export interface Note /);

  const files = ['src/features/index.ts', 'src/features/ctl.ts'];
  await write('checked.json', JSON.stringify({ extends: './tsconfig.json', include: [], files }));
  await node('node_modules/typescript/bin/tsc', '--project', 'checked.json');

  const report = await node('--test', '--test-reporter=tap', testOfFeature);
  assert.match(report, /^# pass 2$/m);
});
