import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DataStep,
  dataFormatKey,
  dataSteps,
  lowerData,
  raiseData,
} from '../../../src/storage/data-format.ts';
import { KeyExistsError, type Store } from '../../../src/storage/store.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';

/** Steps that create and delete a key of their number. */
const steps = [1, 2, 3].map((number): DataStep => {
  const key = `/made/${number}`;
  return {
    about: `key ${number}`,
    async up(store) {
      await store.create(key, Buffer.from('made')).catch((error) => {
        if (!(error instanceof KeyExistsError)) throw error;
      });
    },
    async down(store) {
      const stored = await store.get(key);
      if (stored) await store.delete(key, stored.revision);
    },
  };
});

const keysIn = async (store: Store) => (await store.list('/')).items.map(({ key }) => key);
const markIn = async (store: Store) =>
  JSON.parse((await store.get(dataFormatKey))?.value.toString() ?? 'null') as unknown;

test('data of an earlier version get every step once, in order', async () => {
  const store = createMemoryStore();
  const lines: string[] = [];
  const onStep = (line: string) => lines.push(line);
  await raiseData(store, { version: '1.0.0', steps: steps.slice(0, 2), onStep });
  await raiseData(store, { version: '1.1.0', steps, onStep });
  await raiseData(store, { version: '1.2.0', steps, onStep });
  assert.deepEqual(lines, ['format 1: key 1', 'format 2: key 2', 'format 3: key 3']);
  assert.deepEqual(await markIn(store), { format: 3, version: '1.1.0' });
  assert.deepEqual(await keysIn(store), [dataFormatKey, '/made/1', '/made/2', '/made/3']);
});

test('lowering the format restores the earlier data', async () => {
  const store = createMemoryStore();
  await raiseData(store, { version: '1.1.0', steps });
  await lowerData(store, 1, { version: '1.1.0', steps });
  assert.deepEqual(await keysIn(store), [dataFormatKey, '/made/1']);
  assert.deepEqual(await markIn(store), { format: 1, version: '1.1.0' });
  await lowerData(store, 0, { version: '1.1.0', steps });
  assert.deepEqual(await keysIn(store), []);
});

test('an older version refuses newer data in one line, and does not change them', async () => {
  const store = createMemoryStore();
  await raiseData(store, { version: '1.1.0', steps });
  const older = { version: '1.0.0', steps: steps.slice(0, 2) };
  const message =
    'the data have format 3, written by minik8s 1.1.0, and minik8s 1.0.0 reads formats up to 2: ' +
    'start minik8s 1.1.0 again, and go back with it (minik8s upgrade --back)';
  await assert.rejects(raiseData(store, older), { message });
  await assert.rejects(lowerData(store, 0, older), { message });
  assert.equal((await keysIn(store)).length, 4);
});

test('a failed step leaves the mark of the previous step, and is repeated', async () => {
  const store = createMemoryStore();
  const failing: DataStep = { ...(steps[1] as DataStep), up: () => Promise.reject(new Error('no disk')) };
  const broken = { version: '1.1.0', steps: [steps[0] as DataStep, failing] };
  await assert.rejects(raiseData(store, broken), { message: 'no disk' });
  assert.deepEqual(await markIn(store), { format: 1, version: '1.1.0' });
  await raiseData(store, { version: '1.1.1', steps });
  assert.deepEqual(await markIn(store), { format: 3, version: '1.1.1' });
});

test('two masters that start at the same time both take each step, and agree on the mark', async () => {
  const store = createMemoryStore();
  await Promise.all(['a', 'b'].map((version) => raiseData(store, { version, steps })));
  assert.equal((await keysIn(store)).length, 4);
});

test('a mark that cannot be read is an error with advice', async () => {
  const store = createMemoryStore();
  await store.create(dataFormatKey, Buffer.from('{"format":0}'));
  await assert.rejects(raiseData(store, { version: '1', steps }), /cannot be read: restore a backup/);
});

test('the steps of this version write a mark into data without one, and remove it on the way back', async () => {
  const store = createMemoryStore();
  await raiseData(store, { version: '1.0.0' });
  assert.deepEqual(await markIn(store), { format: dataSteps.length, version: '1.0.0' });
  await lowerData(store, 0, { version: '1.0.0' });
  assert.deepEqual(await keysIn(store), []);
});
