import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Service } from '../../../src/api/core/v1/service/service.ts';
import { failure } from './model-kernel.ts';
import { errors, freshForEachTest, kernel, log, put, service, slice, start } from './proxier-rig.ts';

freshForEachTest();

const sticky = (timeoutSeconds: number): Service => {
  const web = service('web', '10.96.0.1');
  const sessionAffinityConfig = { clientIP: { timeoutSeconds } };
  return { ...web, spec: { ...web.spec, sessionAffinity: 'ClientIP', sessionAffinityConfig } };
};
const client = '10.2.0.1 . 10.96.0.1 . tcp . 80 timeout 1m expires 12s : 0x4d800009';
const last = () => kernel.transactions.at(-1) ?? '';
const added = () => /add element ip minik8s-proxy sticky-clients \{ (.*) \}/.exec(last())?.[1];

describe('the clients that keep their endpoint', () => {
  it('are written again with the whole table and their remaining time', async () => {
    kernel.clients.set('sticky-clients', [client, client.replace('10.2.0.1', '10.2.0.2')]);
    await kernel.exec('nft', ['-f', '-'], { input: 'add table ip minik8s-proxy\n' });
    await put(sticky(60), slice('web-1', 'web', ['10.244.0.2']));
    await start();
    assert.match(last(), /^add table/);
    assert.equal(added(), `${client}, ${client.replace('10.2.0.1', '10.2.0.2')}`);
  });

  it('are not read while single elements change', async () => {
    await put(sticky(60), slice('web-1', 'web', ['10.244.0.2']));
    await start();
    kernel.clients.set('sticky-clients', [client]);
    await put(slice('web-1', 'web', ['10.244.0.3']));
    assert.equal(added(), undefined);
    assert.deepEqual(errors(), []);
  });

  it('are reported as unread if nft fails for another reason, and the table is written without them', async () => {
    await kernel.exec('nft', ['-f', '-'], { input: 'add table ip minik8s-proxy\n' });
    kernel.listFailure = failure('nft', 1, 'Operation not permitted');
    await put(sticky(60), slice('web-1', 'web', ['10.244.0.2']));
    await start();
    assert.equal(log.of('warn').length, 2, 'one for each map');
    assert.equal(kernel.elements.services?.['10.96.0.1 . tcp . 80'], 'goto sticky-60-1');
  });

  it('are not read before the table exists', async () => {
    kernel.clients.set('sticky-clients', [client]);
    await put(sticky(60), slice('web-1', 'web', ['10.244.0.2']));
    await start();
    assert.equal(added(), undefined);
    assert.deepEqual(errors(), []);
  });
});

it('the whole table is written again before it has many chains of past timeouts', async () => {
  await put(sticky(1), slice('web-1', 'web', ['10.244.0.2']));
  await start();
  let most = 0;
  for (let seconds = 2; seconds < 1200; seconds++) {
    await put(sticky(seconds));
    most = Math.max(most, kernel.table?.chains.size ?? 0);
  }
  assert.ok(most <= 520, `${most} chains`);
  assert.equal(kernel.elements.services?.['10.96.0.1 . tcp . 80'], 'goto sticky-1199-1');
});
