import assert from 'node:assert/strict';
import { type ConfigMap, configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { objectKey } from '../../../src/apimachinery/meta.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import type { Informer } from '../../../src/client/informer.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelServer } from './model-server.ts';

export function setUp(seed = 1, pageSize = 3, silenceMs = 90_000) {
  const log = new RecordingLogger();
  const server = new ModelServer();
  const clock = new FakeClock();
  const client = createClient(inProcessTransport(server.handler));
  const factory = createInformerFactory({
    client,
    clock,
    random: new SeededRandom(seed),
    log,
    pageSize,
    silenceMs,
  });
  const informer = factory.informerFor(configMapResource);
  const stop = new AbortController();
  const start = async () => {
    const started = factory.start(stop.signal);
    await clock.settle();
    return started;
  };
  const end = async () => {
    stop.abort();
    await factory.stopped();
    assert.equal(clock.pending, 0, 'no timer is left behind');
    assert.equal(server.watching, 0, 'no watch is left behind');
    assert.deepEqual(log.of('error'), [], 'no handler threw');
  };
  return { server, clock, log, factory, informer, start, end, stop };
}

/** Applies the events of a handler to a model of the objects, and fails when the events are inconsistent. */
export function follow(informer: Informer<ConfigMap>) {
  const world = new Map<string, string>();
  const told: string[] = [];
  const say = (what: string, object: ConfigMap) => {
    assert.ok(Object.isFrozen(object) && Object.isFrozen(object.metadata), 'objects are deeply frozen');
    told.push(`${what} ${object.metadata.name}`);
  };
  informer.addEventHandler({
    onAdd(object) {
      say('add', object);
      assert.ok(!world.has(objectKey(object)), `${objectKey(object)} is added twice`);
      assert.equal(informer.lister.get(objectKey(object)), object, 'the store is ahead of the handler');
      world.set(objectKey(object), object.metadata.resourceVersion);
    },
    onUpdate(object, old) {
      say('update', object);
      assert.equal(
        world.get(objectKey(object)),
        old.metadata.resourceVersion,
        'the old object is the one that was reported last',
      );
      assert.ok(
        Number(object.metadata.resourceVersion) > Number(old.metadata.resourceVersion),
        'the resourceVersion only grows',
      );
      assert.equal(object.metadata.uid, old.metadata.uid);
      world.set(objectKey(object), object.metadata.resourceVersion);
    },
    onDelete(object) {
      say('delete', object);
      assert.ok(world.delete(objectKey(object)), `${objectKey(object)} is deleted although it was not added`);
    },
  });
  return { world, told };
}

export const truth = (server: ModelServer) =>
  Object.fromEntries(
    [...server.objects].map(([key, object]) => [key, object.metadata.resourceVersion]).sort(),
  );

export const view = (world: Iterable<[string, string]>) => Object.fromEntries([...world].sort());

export const stored = (informer: Informer<ConfigMap>) =>
  view(informer.lister.list().map((object) => [objectKey(object), object.metadata.resourceVersion]));
