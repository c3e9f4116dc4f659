/** Decides which test files share a process, and in which order the processes run. */
import { folderOf, type Stage } from './stages.ts';

export interface TestFile {
  /** Path relative to the repository. */
  readonly file: string;
  /** Expected duration of its tests. */
  readonly seconds: number;
  /** True if it needs exclusive use of this machine's network and engine (test/fixtures/machine-lock.ts). */
  readonly locksMachine: boolean;
  /** True if it changes state of the whole process, such as its environment. */
  readonly changesProcess: boolean;
}

export interface TestProcess {
  readonly name: string;
  readonly files: readonly string[];
  readonly seconds: number;
  readonly locksMachine: boolean;
}

/** Expected duration of starting a process and loading the tested code. */
const loadSeconds = 1.5;
/** Tests of a folder that take less do not justify a process of their own. */
const smallSeconds = 4;
/** A longer file gains nothing from a shared process, and delays the end of that process. */
const longSeconds = 20;

/** Returns a test file's requirements, which follow from its text. */
export function needsOf(source: string): Pick<TestFile, 'locksMachine' | 'changesProcess'> {
  return {
    locksMachine: /\blockMachine\(/.test(source),
    changesProcess: /process\.env\.\w+ =|delete process\.env/.test(source),
  };
}

/** Returns the processes that run `files`, in the order of `inOrder`. */
export function processesOf(stage: Stage, files: readonly TestFile[]): TestProcess[] {
  const shares = (test: TestFile) =>
    stage.filesInProcess > 1 && test.seconds < longSeconds && !test.locksMachine && !test.changesProcess;
  const { alone = [], shared = [] } = Object.groupBy(files, (test) => (shares(test) ? 'shared' : 'alone'));
  const groups = [...groupsOf(stage, shared)].flatMap(([name, tests]) => {
    const parts = partsOf(stage, tests);
    return parts.map((part, index) => processOf(parts.length === 1 ? name : `${name}-${index + 1}`, part));
  });
  return inOrder([...groups, ...alone.map((test) => processOf(test.file, [test]))]);
}

/**
 * Returns the files of each folder by its name. The files of small folders, and files without a folder, are
 * one group: loading the tested code once more for each of them would take longer than their tests.
 */
function groupsOf(stage: Stage, tests: readonly TestFile[]): Map<string, readonly TestFile[]> {
  const folders = Map.groupBy(tests, ({ file }) => folderOf(stage, file));
  const isSmall = ([folder, files]: [string, readonly TestFile[]]) =>
    folder === '' || secondsOf(files) < smallSeconds;
  const { large = [], small = [] } = Object.groupBy([...folders], (group) =>
    isSmall(group) ? 'small' : 'large',
  );
  const rest = small.flatMap(([, files]) => files);
  return new Map([...large, ...(rest.length > 0 ? [['others', rest] as const] : [])]);
}

/**
 * Splits files into as many parts as the stage's limits require. The longest file is placed first, each into
 * the shortest part, so that all parts take about as long: the longest process determines the end of a stage.
 */
function partsOf(stage: Stage, tests: readonly TestFile[]): TestFile[][] {
  const { filesInProcess, secondsInProcess } = stage;
  const count = Math.ceil(Math.max(1, tests.length / filesInProcess, secondsOf(tests) / secondsInProcess));
  const parts = Array.from({ length: count }, () => ({ tests: [] as TestFile[], seconds: 0 }));
  for (const test of inOrder(tests)) {
    const shortest = parts.reduce((one, other) => (isShorter(other, one, filesInProcess) ? other : one));
    shortest.tests.push(test);
    shortest.seconds += test.seconds;
  }
  // The files of a process run in the order in which they are listed.
  return parts.map((part) => tests.filter((test) => part.tests.includes(test)));
}

type Part = { readonly tests: readonly TestFile[]; readonly seconds: number };

/** Returns whether `one` takes the next file rather than `other`; a full part takes none. */
const isShorter = (one: Part, other: Part, maxFiles: number) =>
  one.tests.length < maxFiles && (other.tests.length >= maxFiles || one.seconds < other.seconds);

const secondsOf = (tests: readonly { readonly seconds: number }[]) =>
  tests.reduce((sum, { seconds }) => sum + seconds, 0);

function processOf(name: string, tests: readonly TestFile[]): TestProcess {
  return {
    name: tests.length === 1 ? (tests[0]?.file ?? name) : name,
    files: tests.map(({ file }) => file),
    seconds: loadSeconds + secondsOf(tests),
    locksMachine: tests.some(({ locksMachine }) => locksMachine),
  };
}

/** Sorts with the longest first; equally long ones keep their order. */
const inOrder = <T extends { readonly seconds: number }>(all: readonly T[]): T[] =>
  [...all].sort((one, other) => other.seconds - one.seconds);

/**
 * Returns the process to start next, from `waiting` with the longest first; undefined while all waiting
 * processes need the machine and it is in use. Processes that need the machine run one after the other, so
 * together they count as one long process.
 */
export function nextProcess(
  waiting: readonly TestProcess[],
  machineIsTaken: boolean,
): TestProcess | undefined {
  const free = waiting.find(({ locksMachine }) => !locksMachine);
  const locking = waiting.filter(({ locksMachine }) => locksMachine);
  if (machineIsTaken || locking.length === 0) return free;
  const together = secondsOf(locking);
  return free !== undefined && free.seconds > together ? free : locking[0];
}

export interface RunningProcess {
  readonly process: TestProcess;
  /** Seconds since it started. */
  readonly since: number;
}

/**
 * Returns the expected number of seconds until all processes have ended. A process that takes longer than
 * expected may end at any moment.
 */
export function secondsLeft(
  running: readonly RunningProcess[],
  waiting: readonly TestProcess[],
  concurrency: number,
): number {
  let now = 0;
  const rest = [...waiting];
  let active = running.map(({ process, since }) => ({ process, end: Math.max(process.seconds - since, 0) }));
  for (;;) {
    while (active.length < concurrency) {
      const process = nextProcess(
        rest,
        active.some((one) => one.process.locksMachine),
      );
      if (process === undefined) break;
      rest.splice(rest.indexOf(process), 1);
      active.push({ process, end: now + process.seconds });
    }
    if (active.length === 0) return now;
    now = Math.min(...active.map(({ end }) => end));
    active = active.filter(({ end }) => end > now);
  }
}
