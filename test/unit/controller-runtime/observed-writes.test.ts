import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { newNotFound } from '../../../src/apimachinery/status-error.ts';
import type { Client } from '../../../src/client/client.ts';
import type { EventHandler, Informer } from '../../../src/client/informer.ts';
import { ObservedWrites, verifyAfter } from '../../../src/controller-runtime/observed-writes.ts';
import { at, pod } from '../controllers/objects.ts';

/** A cache and a server whose objects the test sets. */
function world() {
  const cached = new Map<string, Pod>();
  const handlers: EventHandler<Pod>[] = [];
  const live = new Map<string, Pod>();
  const informer: Informer<Pod> = {
    hasSynced: true,
    synced: Promise.resolve(),
    lister: { get: (key) => cached.get(key), list: () => [...cached.values()], byIndex: () => [] },
    addEventHandler: (handler) => void handlers.push(handler),
    addIndex: () => {},
  };
  const get = async (name: string) => {
    const found = live.get(name);
    if (!found) throw newNotFound(podResource, name);
    return found;
  };
  const client = {
    resource: (kind: unknown) => ({ get: kind === podResource ? get : assert.fail('another kind') }),
  } as unknown as Client;
  return {
    live,
    writes: new ObservedWrites(client, podResource, informer),
    show(one: Pod) {
      const old = cached.get(`default/${one.metadata.name}`);
      cached.set(`default/${one.metadata.name}`, one);
      for (const handler of handlers) old ? handler.onUpdate?.(one, old) : handler.onAdd?.(one);
    },
    drop(one: Pod) {
      cached.delete(`default/${one.metadata.name}`);
      for (const handler of handlers) handler.onDelete?.(one);
    },
  };
}

const version = (resourceVersion: string, name = 'a', over = {}) =>
  pod(name, { metadata: { resourceVersion, ...over } });

describe('ObservedWrites', () => {
  let w = world();
  beforeEach(() => {
    w = world();
  });
  const settled = (now = 0) => w.writes.settled('default/web', now);

  it('waits until the cache shows a creation', async () => {
    w.writes.written('default/web', version('5'), 0);
    assert.equal(await settled(), false);
    assert.equal(await w.writes.settled('default/other', 0), true);
    w.show(version('5'));
    assert.equal(await settled(), true);
  });
  it('waits until the cache shows the version of an update, compared as a number', async () => {
    w.show(version('9'));
    w.writes.written('default/web', version('10'), 0);
    assert.equal(await settled(), false);
    w.show(version('11'));
    assert.equal(await settled(), true);
  });
  it('does not wait for a write that the cache shows already', async () => {
    w.show(version('5'));
    w.writes.written('default/web', version('5'), 0);
    w.writes.removed('default/web', version('5', 'b'), 0);
    assert.equal(await settled(), true);
  });
  it('waits until the cache has removed an object whose last finalizer was removed by the write', async () => {
    const ended = version('6', 'a', { deletionTimestamp: at(1), finalizers: [] });
    w.show(version('5', 'a', { deletionTimestamp: at(1), finalizers: ['example.com/mine'] }));
    w.writes.written('default/web', ended, 0);
    assert.equal(await settled(), false);
    w.drop(ended);
    assert.equal(await settled(), true);
    w.writes.written('default/web', ended, 0);
    assert.equal(await settled(), true);
    w.writes.written('default/web', version('6', 'a', { deletionTimestamp: at(1), finalizers: ['b'] }), 0);
    assert.equal(await settled(), false, 'it stays for another finalizer');
  });
  it('waits for a removal until the object is being deleted or is deleted', async () => {
    const ends: ((one: Pod) => void)[] = [
      () => w.show(version('6', 'a', { deletionTimestamp: at(1) })),
      (one) => w.drop(one),
    ];
    for (const end of ends) {
      w = world();
      w.show(version('5'));
      w.writes.removed('default/web', version('5'), 0);
      assert.equal(await settled(), false);
      w.show(version('5'));
      assert.equal(await settled(), false);
      end(version('5'));
      assert.equal(await settled(), true);
    }
  });
  it('queries the server for an object that is never shown, and continues to wait if it exists', async () => {
    w.writes.written('default/web', version('5'), 0);
    w.live.set('a', version('5'));
    assert.equal(await settled(verifyAfter), false);
    w.live.delete('a');
    assert.equal(await settled(verifyAfter + 1), false, 'the server was queried a moment ago');
    assert.equal(await settled(2 * verifyAfter), true);
  });
  it('waits for the last of several writes of an object, by any writer', async () => {
    w.writes.written('default/web', version('5'), 0);
    w.writes.written('default/web', version('6'), 0);
    w.show(version('5'));
    assert.equal(await settled(), false);
    w.show(version('6'));
    assert.equal(await settled(), true);
    w.writes.written('default/other', version('7'), 0);
    w.writes.written('default/web', version('8'), 0);
    assert.deepEqual([await w.writes.settled('default/other', 0), await settled()], [true, false]);
    w.show(version('8'));
    assert.equal(await settled(), true);
  });
  it('does not wait for a write to an object that was replaced in the cache', async () => {
    w.show(version('9', 'a', { uid: 'later' }));
    w.writes.removed('default/web', version('5'), 0);
    w.writes.written('default/web', version('10'), 0);
    assert.equal(await settled(), true);
  });
  it('waits no longer for an object that the server has replaced', async () => {
    w.writes.written('default/web', version('5'), 0);
    w.live.set('a', version('9', 'a', { uid: 'later' }));
    assert.equal(await settled(verifyAfter), true);
  });
  it('tracks the writes of each key separately', async () => {
    w.writes.written('default/web', version('5', 'a'), 0);
    w.writes.written('default/web', version('6', 'b'), 0);
    w.show(version('5', 'a'));
    assert.equal(await settled(), false);
    w.show(version('6', 'b'));
    assert.equal(await settled(), true);
  });
});
