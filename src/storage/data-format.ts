/**
 * Format of the stored data. A change of what is stored is a step with a way up and a way down; the mark in
 * the store has the number of the last step, and the version that took it. Data without a mark have format 0.
 *
 * - Each step must leave a store from which it can be repeated: the process may end between it and the mark.
 * - Masters of one etcd are replaced one by one, so a step must leave data that the version before can serve.
 */
import { KeyExistsError, RevisionMismatchError, type Store } from './store.ts';

export interface DataStep {
  /** One line for the log. */
  readonly about: string;
  up(store: Store): Promise<void>;
  down(store: Store): Promise<void>;
}

export const dataFormatKey = '/cluster/data-format';

/** Steps in their order: the first one leads from format 0 to format 1. */
export const dataSteps: readonly DataStep[] = [
  {
    about: 'the data have a mark of their format',
    // The mark itself is all that changes; it is written after each step, and deleted below the first.
    up: () => Promise.resolve(),
    down: () => Promise.resolve(),
  },
];

export interface DataMark {
  readonly format: number;
  /** Version of minik8s that took the last step. */
  readonly version: string;
}

const unmarked: DataMark = { format: 0, version: 'of an unknown version' };

interface Marked extends DataMark {
  /** Revision of the mark; undefined without one. */
  readonly revision: number | undefined;
}

export interface ChangeOptions {
  /** Version of minik8s that changes the data. */
  readonly version: string;
  readonly steps?: readonly DataStep[];
  /** Called with a line about each step that was taken. */
  readonly onStep?: (line: string) => void;
}

/** Takes the steps up to the newest format. Rejects with one line if the data have a newer one. */
export async function raiseData(store: Store, options: ChangeOptions): Promise<void> {
  const { version, steps = dataSteps, onStep } = options;
  let mark = await readMark(store);
  if (mark.format > steps.length) throw tooNew(mark, version, steps.length);
  while (mark.format < steps.length) {
    const step = steps[mark.format];
    await step?.up(store);
    mark = await writeMark(store, mark, { format: mark.format + 1, version });
    onStep?.(`format ${mark.format}: ${step?.about}`);
  }
}

/** Takes the steps back down to a format. No master may run. */
export async function lowerData(store: Store, format: number, options: ChangeOptions): Promise<void> {
  const { version, steps = dataSteps, onStep } = options;
  let mark = await readMark(store);
  if (mark.format > steps.length) throw tooNew(mark, version, steps.length);
  while (mark.format > format) {
    const step = steps[mark.format - 1];
    await step?.down(store);
    mark = await writeMark(store, mark, { format: mark.format - 1, version });
    onStep?.(`format ${mark.format}, without: ${step?.about}`);
  }
}

const tooNew = (mark: DataMark, version: string, newest: number) =>
  new Error(
    `the data have format ${mark.format}, written by minik8s ${mark.version}, and minik8s ${version} reads formats up to ${newest}: ` +
      `start minik8s ${mark.version} again, and go back with it (minik8s upgrade --back)`,
  );

async function readMark(store: Store): Promise<Marked> {
  const stored = await store.get(dataFormatKey);
  if (stored === undefined) return { ...unmarked, revision: undefined };
  return { ...parseMark(stored.value.toString()), revision: stored.revision };
}

function parseMark(text: string): DataMark {
  try {
    const value = JSON.parse(text) as Partial<DataMark> | null;
    const { format, version } = value ?? {};
    if (Number.isInteger(format) && Number(format) > 0 && typeof version === 'string')
      return { format: Number(format), version };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Error(
    `${dataFormatKey} in etcd cannot be read: restore a backup, or, if you know the version that wrote the data, ` +
      `write {"format": N, "version": "VERSION"} there`,
  );
}

/**
 * Replaces the mark and returns it. If another master was faster, it has taken the same step, and its mark is
 * returned.
 */
async function writeMark(store: Store, { revision }: Marked, mark: DataMark): Promise<Marked> {
  try {
    if (mark.format === 0) {
      if (revision !== undefined) await store.delete(dataFormatKey, revision);
      return { ...mark, revision: undefined };
    }
    const value = Buffer.from(JSON.stringify(mark));
    const written =
      revision === undefined
        ? await store.create(dataFormatKey, value)
        : await store.update(dataFormatKey, value, revision);
    return { ...mark, revision: written };
  } catch (error) {
    if (!(error instanceof KeyExistsError || error instanceof RevisionMismatchError)) throw error;
    return readMark(store);
  }
}
