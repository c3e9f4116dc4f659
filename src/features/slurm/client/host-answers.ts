/** Parses the output of Slurm's programs. */

/**
 * Maximum characters of a text that a status repeats. Texts of a host may have any length, and its numbers
 * any size.
 */
const maxTextLength = 4096;
/** Pattern of an exit status. */
const status = '\\d{1,9}';
const sizeOf = (digits: string): number => Math.min(Number(digits), Number.MAX_SAFE_INTEGER);

/** One job, one task of an array, or several tasks that wait together. */
export interface SlurmTask {
  readonly id: string;
  /** Numbers of the tasks of an array; undefined for a job without one. */
  readonly tasks: readonly number[] | undefined;
  /** State without a suffix: CANCELLED by 1000 is CANCELLED. */
  readonly state: string;
  readonly reason: string;
  readonly exitCode: number | undefined;
  /** Times in RFC 3339; undefined while unknown. */
  readonly submitTime: string | undefined;
  readonly startTime: string | undefined;
  readonly endTime: string | undefined;
  readonly nodes: string;
}

/**
 * Parses lines of squeue -h -o '%i|%T|%V|%S|%e|%N|%r'. Lines of another form (a warning of a plugin) are
 * ignored.
 */
export const queueLines = (text: string): SlurmTask[] =>
  lines(text).flatMap((line) => {
    const [id = '', state = '', submit, start, end, nodes = '', ...reason] = line.split('|');
    return taskOf({ id, state, exit: undefined, submit, start, end, nodes, reason: reason.join('|') });
  });

/** Parses lines of sacct -n -P -X -o JobID,State,ExitCode,Submit,Start,End,NodeList. */
export const accountLines = (text: string): SlurmTask[] =>
  lines(text).flatMap((line) => {
    const [id = '', state = '', exit, submit, start, end, nodes = ''] = line.split('|');
    return taskOf({ id, state, exit, submit, start, end, nodes, reason: '' });
  });

interface Columns {
  readonly id: string;
  readonly state: string;
  readonly exit: string | undefined;
  readonly submit: string | undefined;
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly nodes: string;
  readonly reason: string;
}

const idShape = /^(\d+)(?:_(?:(\d+)|\[([\d,:%-]+)(?:\.\.\.)?\]?.*))?$/;

function taskOf({ id, state, exit, submit, start, end, nodes, reason }: Columns): SlurmTask[] {
  const [, job, task, several] = idShape.exec(id) ?? [];
  const [name = ''] = state.split(/[ +]/);
  if (job === undefined || !/^[A-Z_]{1,64}$/.test(name)) return [];
  const tasks = task === undefined ? several && rangeOf(several) : [Number(task)];
  return [
    {
      id: job,
      tasks: tasks || undefined,
      state: name,
      reason: reason === 'None' ? '' : reason.slice(0, maxTextLength),
      exitCode: exit === undefined ? undefined : exitStatus(exit),
      submitTime: timeOf(submit),
      startTime: timeOf(start),
      endTime: isOver(name) ? timeOf(end) : undefined,
      nodes: /^None|^\(null\)$/.test(nodes) ? '' : nodes.slice(0, maxTextLength),
    },
  ];
}

/** Parses 5-9%2, 1,3,5-7 or 0-20:4. A list that squeue has truncated ends where it was truncated. */
function rangeOf(text: string): number[] {
  const [list = ''] = text.split('%');
  const tasks: number[] = [];
  for (const part of list.split(',')) {
    const [, first, last = first, step = '1'] = /^(\d{1,9})(?:-(\d{1,9}))?(?::(\d{1,9}))?$/.exec(part) ?? [];
    if (first === undefined) continue;
    for (let task = Number(first); task <= Number(last); task += Math.max(1, Number(step))) {
      if (tasks.length === maxTasks) return tasks;
      tasks.push(task);
    }
  }
  return tasks;
}

const maxTasks = 100_000;

/** Returns the exit status: 3:0 is status 3, 0:9 means ended by signal 9. */
function exitStatus(text: string): number | undefined {
  const [, own, signal] = new RegExp(`^(${status}):(${status})`).exec(text) ?? [];
  if (own === undefined) return undefined;
  return Number(signal) > 0 ? 128 + Number(signal) : Number(own);
}

const timeOf = (text: string | undefined): string | undefined =>
  text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text) ? `${text}Z` : undefined;

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** States of an ended job (job_state_codes of squeue's manual). */
const over = new Set([
  'BOOT_FAIL',
  'CANCELLED',
  'COMPLETED',
  'DEADLINE',
  'FAILED',
  'LAUNCH_FAILED',
  'NODE_FAIL',
  'OUT_OF_MEMORY',
  'PREEMPTED',
  'RECONFIG_FAIL',
  'REVOKED',
  'TIMEOUT',
]);
export const isOver = (state: string): boolean => over.has(state);

/** Files of one job that lookScript found. */
export interface Looked {
  /** Sizes in bytes by name: stdout, stderr-3. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Exit statuses by the task's number, - for a job without an array. */
  readonly exited: ReadonlyMap<string, number>;
}

/** Parses lines of SIZE|FOLDER/.minik8s/NAME, by folder. */
export function lookedAt(text: string): ReadonlyMap<string, Looked> {
  const found = new Map<string, { sizes: Map<string, number>; exited: Map<string, number> }>();
  for (const line of lines(text)) {
    const match = /^(\d+)\|(.*)\/\.minik8s\/([^/]+)$/.exec(line);
    if (!match) continue;
    const [, size, folder = '', name = ''] = match;
    const entry = found.get(folder) ?? { sizes: new Map(), exited: new Map() };
    found.set(folder, entry);
    const [, task, exit] = new RegExp(`^exited\\.(-|\\d+)\\.(${status})$`).exec(name) ?? [];
    if (task !== undefined) entry.exited.set(task, Number(exit));
    else if (/^(std(out|err)(-\d+)?|build\.log)$/.test(name)) entry.sizes.set(name, sizeOf(size ?? ''));
  }
  return found;
}

/** Parses entries of SIZE, a tab, a path, a NUL. A truncated entry is ignored. */
export const listedFiles = (text: string): { readonly path: string; readonly size: number }[] =>
  text
    .split('\0')
    .slice(0, -1)
    .flatMap((entry) => {
      const [, size, path] = /^(\d+)\t(.+)$/s.exec(entry) ?? [];
      return path === undefined ? [] : [{ path, size: sizeOf(size ?? '') }];
    });

/** Returns true if the message of sbatch means that the same job may be accepted later. */
export const isForNow = (words: string): boolean =>
  words.trim() === '' ||
  /job submit limit|temporarily unable|[Uu]nable to contact|timed out|[Zz]ero [Bb]ytes|[Cc]ommunication|[Rr]eset|[Cc]onnection refused|[Jj]ob count|currently in (backup|standby)|MaxSubmit|MaxJobs/.test(
    words,
  );
