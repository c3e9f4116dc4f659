/**
 * Programs that read the output of minik8s slowly or not at all: `ctl … | less`, `| head`, through real
 * pipes.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { compileCache } from '../../fixtures/compile-cache.ts';
import { noHome } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const main = join(import.meta.dirname, '../../../src/main.ts');
/** More than the capacity of a pipe, less than the maximum length of one argument. */
const length = 100_000;
const log = Buffer.from(Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join(''));
const logs = log.toString();

describe('output to a pipe', { timeout: 300_000, concurrency: 3 }, () => {
  let server: HttpsTestServer;
  let env: Record<string, string>;
  let manifest: string;
  /** Directory for temporary files of the commands. */
  let temporary: string;

  before(async () => {
    server = await startHttpsTestServer({ nodeConnection: async () => new Response(new Blob([log])) });
    temporary = join(server.directory, 'temporary');
    await mkdir(temporary);
    env = {
      TMPDIR: temporary,
      KUBECONFIG: await server.kubeconfigFor('admin', ['system:masters']),
      HOME: noHome,
      PATH: process.env.PATH ?? '',
      ...compileCache,
      LONG: 'x'.repeat(length),
    };
    const made = [
      ['configmaps', { metadata: { name: 'big' }, data: { a: 'x'.repeat(length) } }],
      ['pods', { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'x' }] } }],
    ] as const;
    for (const [plural, object] of made) {
      const { status, text } = await server.call('POST', `/api/v1/namespaces/default/${plural}`, object);
      assert.equal(status, 201, text);
    }
    manifest = join(server.directory, 'big.json');
    const metadata = { name: 'bigger' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'x'.repeat(2 * length) } };
    await writeFile(manifest, JSON.stringify(object));
  });
  after(() => server.stop());

  interface Piped {
    /** Output of the last program of the pipe. */
    readonly out: string;
    /** Standard error, with the first program's exit status in the last line. */
    readonly err: string;
  }

  /** Runs `minik8s ARGS PIPE` in bash. */
  const shell = (args: string, pipe: string) =>
    new Promise<Piped>((resolve, reject) => {
      const script = `"$0" "$1" ${args} ${pipe}; echo "status \${PIPESTATUS[0]}" >&2`;
      const options = { env: { ...env, MANIFEST: manifest }, maxBuffer: 64 * 1024 * 1024 };
      execFile('bash', ['-c', script, process.execPath, main], options, (error, out, err) =>
        error ? reject(error) : resolve({ out, err }),
      );
    });
  /** Removes the age of an object, which grows between two commands. */
  const withoutAge = (text: string) => text.replace(/\(\d\w* ago\)/, '');
  /** Reads a byte, and the rest a second later: long enough for a program that does not wait to exit. */
  const slowly = '| (head -c 1; sleep 1; cat)';

  for (const [args, status, said] of [
    ['ctl get configmap big -o json', 0, ''],
    ['ctl get configmap big -o yaml', 0, ''],
    ['ctl describe configmap big', 0, ''],
    ['ctl get --raw /openapi/v2', 0, ''],
    ['ctl create -f "$MANIFEST" --dry-run=client -o yaml', 0, ''],
    ['ctl apply -f "$MANIFEST" --dry-run=server -o json', 0, ''],
    ['ctl logs p', 0, ''],
    ['ctl logs p --prefix', 0, ''],
    [
      'ctl get configmap big nosuch -o json',
      1,
      'Error from server (NotFound): configmaps "nosuch" not found\n',
    ],
    ['licenses', 0, ''],
  ] as const)
    it(`of ${args} reaches a slow reader completely, with status ${status}`, async () => {
      const whole = await shell(args, '| cat');
      assert.ok(whole.out.length > length, `${whole.out.length} bytes: the pipe would hold them`);
      const slow = await shell(args, slowly);
      assert.equal(withoutAge(slow.out).length, withoutAge(whole.out).length);
      assert.equal(slow.err, `${said}status ${status}\n`);
    });

  it('contains the whole log', async () => {
    assert.equal((await shell('ctl logs p', slowly)).out, logs);
  });

  for (const args of ['"$LONG"', 'ctl "$LONG"'])
    it(`contains the whole error message of ${args.replace('$LONG', 'an unknown command')}`, async () => {
      const { out, err } = await shell(args, `2>&1 >/dev/null ${slowly}`);
      assert.match(out, /^error: [^\n]*unknown command x{100000}[^\n]*\n$/);
      assert.match(err, /^status [12]\n$/);
    });

  for (const [args, status] of [
    ['ctl get configmap big -o json', 0],
    ['ctl logs p', 0],
    ['ctl get --raw /openapi/v2', 0],
    ['licenses', 0],
    ['--help', 0],
  ] as const)
    it(`ends quietly when the reader of ${args} exits`, async () => {
      assert.deepEqual(await shell(args, '| head -c 0'), { out: '', err: `status ${status}\n` });
      assert.equal((await shell(args, '| head -c 1')).err, `status ${status}\n`);
    });

  it('leaves no copies of the objects when the reader of ctl diff exits', async () => {
    await shell('ctl diff -f "$MANIFEST"', '| head -c 0');
    assert.deepEqual(await readdir(temporary), []);
  });

  it('that cannot be written causes an error', async () => {
    for (const args of ['ctl get configmap big -o json', 'licenses'])
      assert.equal(
        (await shell(args, '>/dev/full')).err,
        'error: cannot write: ENOSPC: no space left on device, write\nstatus 1\n',
      );
  });

  it('is dropped on the second Ctrl-C while the reader is stuck', async () => {
    const command = spawn(process.execPath, [main, 'ctl', 'get', '--raw', '/openapi/v2'], {
      env,
      stdio: 'pipe',
    });
    const ended = once(command, 'exit');
    await once(command.stdout, 'readable');
    command.kill('SIGINT');
    // Two pending signals of one kind are delivered as one.
    const again = setInterval(() => command.kill('SIGINT'), 100);
    assert.deepEqual(await ended, [130, null]);
    clearInterval(again);
  });
});
