/** Options of sbatch, named as in its manual. Pure. */

/** Options that a job may have in addition to the fields of its spec, with their short forms. */
const free: Readonly<Record<string, string>> = {
  ...letters(
    'acctg-freq begin:b cluster-constraint constraint:C contiguous core-spec:S cores-per-socket cpu-freq cpus-per-gpu deadline ' +
      'delay-boot dependency:d distribution:m exclude:x exclusive extra-node-info:B gpu-bind gpu-freq gpus:G gpus-per-node ' +
      'gpus-per-socket gpus-per-task gres gres-flags hint ignore-pbs licenses:L mail-type mail-user mem-bind mem-per-cpu ' +
      'mem-per-gpu mincpus network nice no-requeue nodelist:w ntasks-per-core ntasks-per-gpu ntasks-per-socket overcommit:O ' +
      'oversubscribe:s power prefer priority profile propagate reservation signal sockets-per-node spread-job switches ' +
      'thread-spec threads-per-core time-min tmp tres-bind tres-per-task use-min-nodes wckey',
  ),
};

/**
 * Options that a batch script may have, with their short forms: those above, and those that have fields in
 * the spec, which take precedence. The client sets the options for output files, the job's name and the
 * response of sbatch.
 */
export const scriptOptions: Readonly<Record<string, string>> = {
  ...free,
  ...letters(
    'account:A array:a cpus-per-task:c job-name:J mem nodes:N ntasks:n ntasks-per-node partition:p qos:q time:t',
  ),
};

function letters(words: string): Record<string, string> {
  return Object.fromEntries(
    words.split(' ').map((word) => {
      const [name = '', letter = ''] = word.split(':');
      return [name, letter];
    }),
  );
}

const maxOptionLength = 512;

/** Returns the reason why the word is not a valid option; undefined for a valid one. */
export function argumentProblem(word: string): string | undefined {
  const [, name = '', value = ''] = /^--([a-z][a-z-]*)(?:=(.*))?$/s.exec(word) ?? [];
  if (name === '') return 'must be one option with its value, such as --constraint=a100';
  if (!Object.hasOwn(free, name)) return `--${name} is not an option that a job may have here`;
  if (word.length > maxOptionLength) return `must have no more than ${maxOptionLength} characters`;
  return /^[\x20-\x7e]*$/.test(value) ? undefined : 'must be printable ASCII';
}

const times = /^(?:\d{1,7}|\d{1,7}:\d{1,2}|\d{1,5}:\d{1,2}:\d{1,2}|\d{1,4}-\d{1,2}(?::\d{1,2}){0,2})$/;
const maxSeconds = 366 * 86_400;

/**
 * Returns the reason why the time limit is invalid; undefined for a valid one: seconds as a number; minutes,
 * M:S, H:M:S, D-H, D-H:M, D-H:M:S as a text.
 */
export function timeProblem(time: number | string): string | undefined {
  if (typeof time === 'number')
    return time >= 1 && time <= maxSeconds ? undefined : `must be between 1 and ${maxSeconds} seconds`;
  if (!times.test(time)) return 'must be a number of seconds, or a text such as 30, 1:30:00 or 2-12:00';
  return /[1-9]/.test(time) ? undefined : 'must be more than 0';
}

/** Maximum tasks of an array, more than most clusters accept. */
const maxTasks = 10_000;
const arrayPart = /^(\d{1,7})(?:-(\d{1,7})(?::(\d{1,7}))?)?$/;

export function arrayProblem(array: string): string | undefined {
  const rule = 'must be numbers and ranges in the form of sbatch, such as 0-9, 1,3,5-7, 0-15:4 or 0-99%2';
  const [, list = '', atOnce] = /^([^%]{1,1000})(?:%(\d{1,7}))?$/.exec(array) ?? [];
  if (list === '' || Number(atOnce ?? 1) < 1) return rule;
  let count = 0;
  for (const part of list.split(',')) {
    const [, first, last = first, step = '1'] = arrayPart.exec(part) ?? [];
    if (first === undefined || Number(step) < 1 || Number(last) < Number(first)) return rule;
    count += Math.floor((Number(last) - Number(first)) / Number(step)) + 1;
  }
  return count > maxTasks ? `must be no more than ${maxTasks} tasks` : undefined;
}
