/** Changes of a folder, from the reported state and the state on disk. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  fileContent,
  fileEvent,
  maxContent,
} from '../../../../../../src/features/triggers/agent/plan/file-event.ts';
import {
  type Mark,
  planChanges,
  type Resting,
  reportedBefore,
} from '../../../../../../src/features/triggers/agent/plan/folder-changes.ts';
import type { FolderWatch } from '../../../../../../src/features/triggers/api/folder-watch.ts';

type Files = Readonly<Record<string, string>>;

/** Marks of `SIZE@WRITTEN` by name. */
const marks = (files: Files) =>
  new Map<string, Mark>(
    Object.entries(files).map(([path, text]) => {
      const [size, written = ''] = text.split('@');
      return [path, { size: Number(size), written }];
    }),
  );

/** A reading that takes no time. */
const at = (now: number) => ({ begun: now, ended: now });

/**
 * Compares at these times, in milliseconds, with the files of that time; returns each change as `TIME TYPE
 * PATH`.
 */
function looks(before: Files, each: readonly (readonly [number, Files])[]): string[] {
  const told = marks(before);
  const said: string[] = [];
  let resting: Resting = new Map();
  for (const [now, files] of each) {
    const plan = planChanges(told, marks(files), resting, at(now));
    resting = plan.resting;
    for (const { type, path, mark } of plan.changes) {
      said.push(`${now} ${type} ${path}`);
      if (type === 'Deleted') told.delete(path);
      else told.set(path, mark);
    }
  }
  return said;
}

const cases: readonly (readonly [string, Files, readonly (readonly [number, Files])[], readonly string[]])[] =
  [
    [
      'a reported file is not reported again',
      { a: '1@1' },
      [
        [0, { a: '1@1' }],
        [9000, { a: '1@1' }],
      ],
      [],
    ],
    [
      'a new file is reported after a second',
      {},
      [
        [0, { a: '1@1' }],
        [999, { a: '1@1' }],
        [1000, { a: '1@1' }],
      ],
      ['1000 Created a'],
    ],
    [
      'once',
      {},
      [
        [0, { a: '1@1' }],
        [1000, { a: '1@1' }],
        [2000, { a: '1@1' }],
      ],
      ['1000 Created a'],
    ],
    [
      'the second starts over when the file grows',
      {},
      [
        [0, { a: '1@1' }],
        [900, { a: '2@1' }],
        [1800, { a: '2@1' }],
        [1900, { a: '2@1' }],
      ],
      ['1900 Created a'],
    ],
    [
      'the second starts over when the file is written without growing',
      {},
      [
        [0, { a: '1@1' }],
        [900, { a: '1@2' }],
        [1800, { a: '1@2' }],
      ],
      [],
    ],
    [
      'a written file is reported as updated',
      { a: '1@1' },
      [
        [0, { a: '1@2' }],
        [1000, { a: '1@2' }],
      ],
      ['1000 Updated a'],
    ],
    [
      'a deleted file is reported after a second',
      { a: '1@1' },
      [
        [0, {}],
        [999, {}],
        [1000, {}],
      ],
      ['1000 Deleted a'],
    ],
    [
      'a replaced file is reported as updated',
      { a: '1@1' },
      [
        [0, {}],
        [500, { a: '3@2' }],
        [1500, { a: '3@2' }],
      ],
      ['1500 Updated a'],
    ],
    [
      'a file that is restored within a second is not reported',
      { a: '1@1' },
      [
        [0, {}],
        [500, { a: '1@1' }],
        [5000, { a: '1@1' }],
      ],
      [],
    ],
    [
      'a file that is created and deleted within a second is not reported',
      {},
      [
        [0, { a: '1@1' }],
        [900, {}],
        [5000, {}],
      ],
      [],
    ],
    [
      'each file has its own second',
      {},
      [
        [0, { a: '1@1' }],
        [500, { a: '1@1', b: '1@1' }],
        [1000, { a: '1@1', b: '1@1' }],
      ],
      ['1000 Created a'],
    ],
    [
      'files are reported in the order of their paths',
      {},
      [
        [0, { b: '1@1', a: '1@1' }],
        [1000, { b: '1@1', a: '1@1' }],
      ],
      ['1000 Created a', '1000 Created b'],
    ],
  ];

describe('the changes of a folder', () => {
  for (const [name, before, each, expected] of cases)
    it(name, () => assert.deepEqual(looks(before, each), expected));

  it('include the time at which the next file is at rest', () => {
    const first = planChanges(new Map(), marks({ a: '1@1' }), new Map(), at(0));
    assert.equal(first.again, 1000);
    const second = planChanges(new Map(), marks({ a: '1@1', b: '1@1' }), first.resting, at(300));
    assert.equal(second.again, 700);
    assert.equal(planChanges(marks({ a: '1@1' }), marks({ a: '1@1' }), new Map(), at(0)).again, undefined);
  });

  it('is not considered complete only because the reading took long after it had found the file', () => {
    const found = marks({ a: '1@1' });
    const { resting } = planChanges(new Map(), found, new Map(), { begun: 0, ended: 5000 });
    const second = planChanges(new Map(), found, resting, { begun: 5100, ended: 9000 });
    assert.deepEqual([second.changes, second.again], [[], 0]);
    const third = planChanges(new Map(), found, second.resting, at(9050));
    assert.deepEqual(
      third.changes.map(({ path }) => path),
      ['a'],
    );
  });

  it('is checked again when it has not changed since the end of the first reading', () => {
    const found = marks({ a: '1@1' });
    const { resting, again } = planChanges(new Map(), found, new Map(), { begun: 0, ended: 5000 });
    assert.equal(again, 1000);
    assert.equal(planChanges(new Map(), found, resting, { begun: 5100, ended: 5300 }).again, 700);
  });

  it('stay at rest if they could not be reported', () => {
    const { resting } = planChanges(new Map(), marks({ a: '1@1' }), new Map(), at(0));
    const full = planChanges(new Map(), marks({ a: '1@1' }), resting, at(1000));
    assert.equal(full.changes.length, 1);
    assert.equal(planChanges(new Map(), marks({ a: '1@1' }), full.resting, at(1001)).changes.length, 1);
  });

  it('of a folder without a record are the changes since the watch began', () => {
    const file = (changed: number) => ({ size: 1, written: '1', changed });
    const told = reportedBefore(
      new Map([
        ['old', file(999)],
        ['new', file(1000)],
      ]),
      1000,
    );
    assert.deepEqual([...told], [['old', { size: 1, written: '1' }]]);
  });
});

describe('the event of a file', () => {
  const watch = {
    metadata: { name: 'w', namespace: 'ns', ownerReferences: [{ kind: 'Trigger', uid: 'u1' }] },
    spec: { trigger: 't', nodeName: 'n1', source: '/folders/in' },
  } as unknown as FolderWatch;
  const change = { type: 'Created', path: 'a/b', mark: { size: 3, written: '1700000000123456789' } } as const;
  const digest = (text: string) => text.replaceAll(/[^0-9a-zA-Z]/g, '').padEnd(32, '0');
  const event = (more: object = {}) =>
    fileEvent(watch, { ...change, ...more } as typeof change, undefined, 1_700_000_001_000, digest).spec;

  it('has the path, the size, the time of the write and the node', () => {
    const { type, source, subject, data } = event();
    assert.deepEqual([type, source, subject], ['minik8s.io/file.created', '/folders/in', 'a/b']);
    assert.deepEqual(data, { path: 'a/b', size: 3, modified: '2023-11-14T22:13:20.123000Z', node: 'n1' });
  });

  it('has an id of the trigger, node, path, time, size and type', () => {
    const whole = (text: string) => `${text.length}`.padStart(32, '0');
    const texts: string[] = [];
    const note = (text: string) => {
      texts.push(text);
      return whole(text);
    };
    for (const more of [{}, {}, { path: 'a/c' }, { type: 'Updated' }, { mark: { size: 4, written: '1' } }])
      fileEvent(watch, { ...change, ...more } as typeof change, undefined, texts.length, note);
    assert.equal(texts[0], texts[1]);
    assert.equal(new Set(texts).size, 4);
    assert.match(texts[0] ?? '', /u1.*n1.*1700000000123456789/);
  });

  it('is complete, and omits the content if it is too large', () => {
    const texts: string[] = [];
    const note = (text: string) => {
      texts.push(text);
      return digest(text);
    };
    const content = { content: 'abc' };
    const { spec, metadata } = fileEvent(watch, change, content, 1_700_000_001_000, note);
    const file = { path: 'a/b', size: 3, modified: '2023-11-14T22:13:20.123000Z', node: 'n1' };
    assert.deepEqual(spec.data, { ...file, content: 'abc' });
    assert.deepEqual([spec.trigger, spec.time, metadata.namespace], ['t', '2023-11-14T22:13:21Z', 'ns']);
    for (const part of ['file', 'n1', 'a/b', '1700000000123456789', '3', 'Created'])
      assert.ok(texts[0]?.includes(JSON.stringify(part)), `${part} in ${texts[0]}`);
    const large = fileEvent(watch, change, { content: 'x'.repeat(300_000) }, 0, note).spec.data;
    assert.deepEqual(large, { ...file, truncated: true });
  });

  it('has an id of its own if its watch has no trigger', () => {
    const texts: string[] = [];
    const note = (text: string) => {
      texts.push(text);
      return digest(text);
    };
    const metadata = { name: 'w', namespace: 'ns' };
    fileEvent({ ...watch, metadata } as never, change, undefined, 0, note);
    assert.doesNotMatch(texts[0] ?? 'undefined', /undefined|null/);
  });

  it('has times from 1970 to the end of the year 9999', () => {
    const modified = (milliseconds: bigint) => {
      const written = String(milliseconds * 1_000_000n);
      return (event({ mark: { size: 3, written } }).data as { modified?: string }).modified;
    };
    assert.equal(modified(0n), '1970-01-01T00:00:00.000000Z');
    assert.equal(modified(-1n), undefined);
    assert.equal(modified(253_402_300_799_999n), '9999-12-31T23:59:59.999000Z');
    assert.equal(modified(253_402_300_800_000n), undefined);
  });

  it('omits a time that has no text form', () => {
    const { data } = event({ mark: { size: 3, written: '9'.repeat(30) } });
    assert.deepEqual(data, { path: 'a/b', size: 3, node: 'n1' });
  });

  it('has content as text, as base64, or not at all', () => {
    assert.deepEqual(fileContent(Buffer.from('hällo')), { content: 'hällo' });
    assert.deepEqual(fileContent(Buffer.from([0xff])), { content: '/w==', isBase64: true });
    assert.deepEqual(fileContent(Buffer.alloc(maxContent + 1)), { truncated: true });
    assert.deepEqual(Object.keys(fileContent(Buffer.alloc(maxContent))), ['content']);
  });
});
