/** `ctl edit` with editors that are programs: what is sent, what is kept, and what stays on the machine. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { edit } from '../../../../src/cli/commands/edit.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const script = '#!/bin/sh\n# says hello\necho hello\n';

describe('ctl edit', () => {
  let world: VerbWorld;
  let directory: string;
  before(async () => {
    world = await startVerbWorld();
    directory = mkdtempSync(join(tmpdir(), 'minik8s-edit-'));
  });
  after(async () => {
    await world.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    for (const name of ['a', 'b']) {
      await world.send('DELETE', `${configMaps}/${name}`).catch(() => undefined);
      await world.send('POST', configMaps, { metadata: { name }, data: { v: 'first', 'run.sh': script } });
    }
  });

  const dataOf = async (name: string) =>
    (await world.send('GET', `${configMaps}/${name}`)).data as Record<string, string>;

  /** Runs the verb with an editor that runs one of these commands of sh at each call; `$1` is the file. */
  let count = 0;
  const run = (argv: readonly string[], ...commands: readonly string[]) =>
    runUntil(new AbortController().signal, argv, ...commands);
  async function runUntil(signal: AbortSignal, argv: readonly string[], ...commands: readonly string[]) {
    const own = join(directory, String(count++));
    const temporary = join(own, 'temporary');
    mkdirSync(temporary, { recursive: true });
    const editor = join(own, 'editor.sh');
    const cases = commands.map((command, index) => `${index}) ${command};;`).join('\n');
    writeFileSync(
      editor,
      `PATH=/usr/bin:/bin\nn=$(ls ${own} | grep -c seen)\ncp "$1" ${own}/seen$n\ncase $n in\n${cases}\nesac\n`,
    );
    const env = { KUBE_EDITOR: `sh ${editor}`, TMPDIR: temporary, EDITOR: 'false' };
    const result = await world.run(edit, argv, { io: { env }, usesMachine: true, signal });
    const seen = readdirSync(own)
      .filter((name) => name.startsWith('seen'))
      .sort()
      .map((name) => readFileSync(join(own, name), 'utf8'));
    const patches = result.requests.filter((line) => line.startsWith('PATCH '));
    return { ...result, seen, patches, left: readdirSync(temporary) };
  }

  it('sends every object that was changed, skips the others, and leaves no file', async () => {
    const both = await run(['cm', 'a', 'b'], `sed -i 's/v: first/v: second/' "$1"`);
    assert.deepEqual([both.status, both.out], [0, 'configmap/a edited\nconfigmap/b edited\n']);
    assert.deepEqual([(await dataOf('a')).v, (await dataOf('b')).v], ['second', 'second']);
    const one = await run(['cm', 'a', 'b'], `sed -i '0,/v: second/s//v: third/' "$1"`);
    assert.equal(one.out, 'configmap/a edited\nconfigmap/b skipped\n');
    assert.deepEqual([(await dataOf('a')).v, (await dataOf('b')).v], ['third', 'second']);
    assert.deepEqual([both.left, one.left, one.patches.length], [[], [], 1]);
  });

  it('sends nothing if the file is saved as it was, or empty', async () => {
    const same = await run(['cm', 'a'], 'true');
    assert.deepEqual([same.status, same.err], [0, 'Edit cancelled, no changes made.\n']);
    const comments = await run(['cm', 'a'], `printf '# a\\n  # b\\n' > "$1"`);
    assert.deepEqual([comments.status, comments.err], [0, 'Edit cancelled, saved file was empty.\n']);
    assert.deepEqual([same.patches, comments.patches, same.left, comments.left], [[], [], [], []]);
  });

  it('opens the file again with the reason until the server accepts it, and keeps lines of values that begin with #', async () => {
    const { status, out, err, seen, left } = await run(
      ['cm', 'a'],
      `sed -i 's/^metadata:/metadata:\\n  labels: {x: "not valid"}/; s/v: first/v: second/' "$1"`,
      `sed -i 's/not valid/valid/' "$1"`,
    );
    assert.deepEqual([status, out, left], [0, 'configmap/a edited\n', []]);
    assert.match(err, /^error: configmaps "a" is invalid\n$/);
    assert.equal(seen.length, 2);
    assert.match(seen[1] ?? '', /^# configmaps "a" was not valid:\n# \* metadata\.labels: .*not valid/m);
    assert.equal(seen[1]?.match(/Please edit the object below/g)?.length, 1, 'one introduction');
    assert.deepEqual(await dataOf('a'), { v: 'second', 'run.sh': script });
    const labelled = (await world.send('GET', `${configMaps}/a`)).metadata as { labels: object };
    assert.deepEqual(labelled.labels, { x: 'valid' });
  });

  it('sends a change of a line of a value that begins with #', async () => {
    const { out } = await run(['cm', 'a'], `sed -i 's/# says hello/# greets/' "$1"`);
    assert.equal(out, 'configmap/a edited\n');
    assert.match((await dataOf('a'))['run.sh'] ?? '', /^# greets$/m);
  });

  it('keeps a copy for its owner alone if the object becomes another one, and sends nothing', async () => {
    const { status, err, patches } = await run(['cm', 'a'], `sed -i 's/name: a$/name: other/' "$1"`);
    assert.deepEqual([status, patches], [1, []]);
    const [, path = ''] = /A copy of your changes has been stored to "(.*)"\n$/.exec(err) ?? [];
    assert.match(readFileSync(path, 'utf8'), /name: other/);
    assert.deepEqual(
      [path, dirname(path)].map((each) => statSync(each).mode & 0o777),
      [0o600, 0o700],
    );
  });

  it('fails with the editor, and keeps only the changes of an editor that ended well before', async () => {
    const failed = await run(['cm', 'a'], 'exit 3');
    assert.equal(failed.status, 1);
    assert.match(failed.err, /^error: there was a problem with the editor ".*": it ended with 3\n$/);
    assert.deepEqual([failed.patches, failed.left], [[], []]);
    const later = await run(
      ['cm', 'a'],
      `sed -i 's/^metadata:/metadata:\\n  labels: {x: "not valid"}/' "$1"`,
      'exit 1',
    );
    assert.equal(later.status, 1);
    const [, path = ''] = /A copy of your changes has been stored to "(.*)"\n$/.exec(later.err) ?? [];
    assert.match(readFileSync(path, 'utf8'), /not valid/);
  });

  it('ends the editor when it is asked to end, keeps only a file that was changed, and sends nothing', async () => {
    for (const change of ['', `sed -i 's/v: first/v: second/' "$1"`]) {
      const stop = new AbortController();
      const ready = join(directory, `ready-${change.length}`);
      const wait = `${change}\n: > ${ready}\nexec sleep 1000`;
      const ended = runUntil(stop.signal, ['cm', 'a'], wait);
      while (!existsSync(ready)) await setImmediate();
      stop.abort(new DOMException('stopped', 'AbortError'));
      const { err, left, patches } = await ended;
      assert.deepEqual([patches, left.length], [[], change === '' ? 0 : 1]);
      const [, path = ''] = /^A copy of your changes has been stored to "(.*)"\n/.exec(err) ?? [];
      if (change === '') assert.equal(path, '');
      else assert.match(readFileSync(path, 'utf8'), /v: second/);
    }
  });

  it('says where the changes are when it is asked to end while it sends them', async () => {
    const stop = new AbortController();
    const editor = join(directory, 'change.sh');
    writeFileSync(editor, `sed -i 's/v: first/v: second/' "$1"`);
    const { err } = await world.run(edit, ['cm', 'a'], {
      io: { env: { KUBE_EDITOR: `sh ${editor}`, TMPDIR: directory } },
      usesMachine: true,
      signal: stop.signal,
      before: async ({ method }) => {
        if (method === 'PATCH') stop.abort(new DOMException('stopped', 'AbortError'));
      },
    });
    const [, path = ''] = /^A copy of your changes has been stored to "(.*)"\n/.exec(err) ?? [];
    assert.match(readFileSync(path, 'utf8'), /v: second/);
  });

  it('ends with the status of Ctrl-C after an editor that Ctrl-C has ended, and leaves no file', async () => {
    const { status, err, left } = await run(['cm', 'a'], 'kill -INT $$');
    assert.match(err, /^error: there was a problem with the editor ".*": it was interrupted\n$/);
    assert.deepEqual([status, left], [130, []]);
  });

  it('edits the object of the given namespace alone', async () => {
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    await world.send('POST', configMaps.replace('default', 'shop'), { metadata: { name: 'a' } });
    const inShop = await run(['cm', 'a', '-n', 'shop'], `echo 'data: {v: shop}' >> "$1"`);
    assert.match(inShop.patches.join(), /^PATCH \/api\/v1\/namespaces\/shop\/configmaps\/a\?[^,]*$/);
    const shopped = await world.send('GET', `${configMaps.replace('default', 'shop')}/a`);
    assert.deepEqual(shopped.data, { v: 'shop' });
    assert.equal((await dataOf('a')).v, 'first');
  });

  it('prints the patch, and adds the annotation of apply only on request', async () => {
    const change = `sed -i 's/v: first/v: second/' "$1"`;
    const plain = await run(['cm', 'a', '--output-patch'], change);
    assert.equal(plain.out, 'Patch: {"data":{"v":"second"}}\nconfigmap/a edited\n');
    await run(['cm', 'b', '--save-config'], change);
    const annotations = async (name: string) =>
      ((await world.send('GET', `${configMaps}/${name}`)).metadata as { annotations?: object }).annotations;
    assert.equal(await annotations('a'), undefined);
    assert.deepEqual(Object.keys((await annotations('b')) ?? {}), [
      'kubectl.kubernetes.io/last-applied-configuration',
    ]);
  });

  it('opens JSON without comments, and lines of Windows, as they are requested', async () => {
    const json = await run(['cm', 'a', '-o', 'json'], `sed -i 's/"first"/"third"/' "$1"`);
    assert.equal(JSON.parse(json.seen[0] ?? '').data.v, 'first');
    assert.equal((await dataOf('a')).v, 'third');
    const windows = await run(['cm', 'a', '--windows-line-endings'], `sed -i 's/v: third/v: fourth/' "$1"`);
    assert.match(windows.seen[0] ?? '', /v: third\r\n/);
    assert.deepEqual(await dataOf('a'), { v: 'fourth', 'run.sh': script });
  });
});
