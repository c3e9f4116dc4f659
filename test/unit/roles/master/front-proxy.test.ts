/** The authority of the front proxy in a store that two masters share. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger } from '../../../../src/base/log.ts';
import { openFrontProxy } from '../../../../src/roles/master/front-proxy.ts';
import type { Store } from '../../../../src/storage/store.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../../fixtures/memory-store.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-front-proxy-'));
});
// A certificate may still be written when the test has seen the authority that it follows.
after(() => rm(directory, { recursive: true, maxRetries: 20, retryDelay: 50 }));

const clock = new FakeClock();
const open = (store: Store, folder: string, started: AsyncDisposableStack) =>
  openFrontProxy(
    { store, clock, log: silentLogger, settings: { 'data-dir': join(directory, folder) } },
    started,
  );

const signed = (certificate: string, authority: string) =>
  new X509Certificate(certificate).verify(new X509Certificate(authority).publicKey);

/** Runs the event loop until the condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await clock.settle();
}

test('masters of one store share the authority, and each has a separate certificate', async () => {
  const store = createMemoryStore();
  await using started = new AsyncDisposableStack();
  const [one, two] = [await open(store, 'one', started), await open(store, 'two', started)];
  assert.equal(one.authority.value, two.authority.value);
  assert.notEqual(one.client.value.certificate, two.client.value.certificate);
  for (const { client, authority } of [one, two]) {
    assert.ok(signed(client.value.certificate, authority.value));
    assert.equal(new X509Certificate(client.value.certificate).subject, 'CN=front-proxy-client');
  }
  const key = join(directory, 'one/pki/front-proxy/front-proxy-client.key');
  assert.equal((await stat(key)).mode & 0o777, 0o600);
});

test('the authority in the store is used if the directory has another one', async () => {
  const store = createMemoryStore();
  await using started = new AsyncDisposableStack();
  const first = await open(store, 'first', started);
  await open(createMemoryStore(), 'moved', started);
  const moved = await open(store, 'moved', started);
  assert.equal(moved.authority.value, first.authority.value);
  assert.ok(signed(moved.client.value.certificate, first.authority.value));
  assert.equal(
    await readFile(join(directory, 'moved/pki/front-proxy/ca.crt'), 'utf8'),
    first.authority.value,
  );
});

test('a damaged authority is read from the store again after the command that the error names', async () => {
  const store = createMemoryStore();
  await using started = new AsyncDisposableStack();
  const first = await open(store, 'damaged', started);
  const folder = join(directory, 'damaged/pki/front-proxy');
  for (const [name, what] of [
    ['ca.key', `${folder}/ca.key is not the key of the authority in ${folder}/ca.crt`],
    ['ca.crt', `${folder}/ca.key is not the key of the authority in ${folder}/ca.crt`],
  ] as const) {
    await writeFile(join(folder, name), '');
    await assert.rejects(open(store, 'damaged', started), ({ message }: Error) => {
      assert.ok(message.startsWith(what), message);
      assert.ok(message.includes(`: run rm -r '${folder}', and start minik8s again`), message);
      return true;
    });
    await rm(folder, { recursive: true });
    assert.equal((await open(store, 'damaged', started)).authority.value, first.authority.value);
  }
});

test('a rotation trusts both authorities, signs by the next one, and ends the trust in the former one', async () => {
  const store = createMemoryStore();
  await using started = new AsyncDisposableStack();
  const [one, two] = [await open(store, 'a', started), await open(store, 'b', started)];
  const former = one.authority.value;
  await one.rotate('issue');
  assert.equal(
    one.authority.value,
    former,
    'the step issue changes nothing if the front proxy did not take part in the step trust',
  );
  await one.rotate('trust');
  await until(() => two.authority.value !== former);
  assert.ok(two.authority.value.startsWith(former.trim()));
  const next = two.authority.value.slice(former.trim().length).trim();
  assert.ok(signed(two.client.value.certificate, former));
  await one.rotate('issue');
  await until(() => signed(two.client.value.certificate, next) && signed(one.client.value.certificate, next));
  await one.rotate('finish');
  await until(() => two.authority.value.trim() === next && one.authority.value.trim() === next);
  await started.disposeAsync();
  const file = join(directory, 'a/pki/front-proxy/trusted.pem');
  assert.equal((await readFile(file, 'utf8')).trim(), next);
});
