/**
 * Rules of server-side apply, compared with structured-merge-diff, which is Kubernetes' own library for them.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { goOffline, goProgram } from '../../config/build/go.ts';
import { isRecord, sortKeys } from '../../src/apimachinery/equality.ts';
import { describePath, FieldSet, writeFields } from '../../src/apimachinery/managed-fields/field-set.ts';
import {
  ApplyConflicts,
  type Managers,
  storedManagers,
  writeManagers,
} from '../../src/apimachinery/managed-fields/managers.ts';
import {
  afterUpdate,
  applyConfiguration,
  type TypeVersion,
} from '../../src/apimachinery/managed-fields/ownership.ts';
import { KeyError } from '../../src/apimachinery/managed-fields/shape.ts';
import { inOneGo } from '../../src/apimachinery/steps.ts';
import { type ApplyOperation, appliedType, drawOperations } from '../fixtures/apply-operations.ts';
import { SeededRandom } from '../fixtures/seeded-random.ts';

const root = join(import.meta.dirname, '../..');

interface State {
  readonly object: unknown;
  readonly managers: Record<string, unknown>;
  /**
   * Conflicting managers and their fields; `refused` for a configuration that cannot be applied; '' without
   * an error.
   */
  readonly error: string;
}

const version: TypeVersion = {
  apiVersion: 'v1',
  shape: { kind: 'fields', type: appliedType },
  convert: (object) => object,
  revert: (object) => object,
};
const versions = () => version;

/** Returns the states after each of the operations. */
function statesOf(operations: readonly ApplyOperation[]): State[] {
  let object: unknown = {};
  let managers: Managers = new Map();
  return operations.map((operation) => {
    let error = '';
    try {
      // Every write begins with the stored managers.
      [object, managers] = run(operation, object, storedManagers(writeManagers(managers)));
    } catch (failure) {
      error = problemOf(failure);
    }
    const fields = [...managers.values()].map(({ manager, fields: of }) => [manager, writeFields(of)]);
    return { object, managers: Object.fromEntries(fields), error };
  });
}

function run({ op, manager, object: next, force }: ApplyOperation, live: unknown, managers: Managers) {
  const operation = op === 'apply' ? 'Apply' : 'Update';
  const writer = { manager, operation, apiVersion: 'v1', subresource: '' } as const;
  if (op === 'update') {
    const now = '2026-01-01T00:00:00Z';
    return [next, afterUpdate(live, next, managers, writer, versions, now, new FieldSet())] as const;
  }
  const applied = inOneGo(applyConfiguration(live, next, managers, writer, versions, force));
  return [applied.object === undefined ? live : applied.object, applied.managers] as const;
}

function problemOf(failure: unknown): string {
  if (failure instanceof KeyError) return 'refused';
  if (!(failure instanceof ApplyConflicts)) throw failure;
  return failure.conflicts
    .map(({ manager, path }) => `${manager.manager} ${describePath(path)}`)
    .sort()
    .join(' ');
}

/** Returns the value without nulls, which count as absent, and with sorted keys. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  const there = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return sortKeys(Object.fromEntries(there.map(([key, inner]) => [key, plain(inner)])));
}

interface Answer extends Omit<State, 'error'> {
  readonly error?: string;
}

const theirs = ({ error = '', ...state }: Answer): State => ({
  ...state,
  error: error.startsWith('conflicts [') ? error.slice('conflicts ['.length, -1) : error && 'refused',
});

describe('server-side apply', () => {
  let directory: string;
  let program: ChildProcess;
  let answers: AsyncIterator<string>;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'minik8s-apply-rules-'));
    const binary = join(directory, 'apply-rules');
    execFileSync(goProgram(root), ['build', '-o', binary, '.'], {
      cwd: join(root, 'config/apply-rules'),
      env: { ...process.env, ...goOffline },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const child = spawn(binary, { stdio: ['pipe', 'pipe', 'inherit'] });
    program = child;
    answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  });
  after(async () => {
    program?.stdin?.end();
    await rm(directory, { recursive: true, force: true });
  });

  for (const [what, seed, nulls] of [
    ['of objects', 1, false],
    ['for objects with nulls', 2, true],
  ] as const) {
    it(`has the rules of structured-merge-diff ${what}`, async () => {
      const random = new SeededRandom(seed);
      const seen = { conflicts: 0, refused: 0, steps: 0 };
      for (let round = 0; round < 2_000; round++) {
        const operations = drawOperations(random, nulls, round % 5 === 0);
        program.stdin?.write(`${JSON.stringify(operations)}\n`);
        const expected = (JSON.parse((await answers.next()).value) as Answer[]).map(theirs);
        for (const [index, mine] of statesOf(operations).entries()) {
          assert.deepEqual(
            plain(mine),
            plain(expected[index]),
            JSON.stringify(operations.slice(0, index + 1)),
          );
          seen.steps++;
          if (mine.error === 'refused') seen.refused++;
          else if (mine.error) seen.conflicts++;
        }
      }
      // Otherwise the two could be equal without any conflict.
      assert.ok(seen.conflicts > 500 && seen.refused > 50, JSON.stringify(seen));
    });
  }
});
