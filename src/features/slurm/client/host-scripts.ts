/**
 * Scripts for the login host. Each is read by a plain sh from its standard input, so that neither the user's
 * login shell nor the list of processes sees its text. The whole script is one function, so that a truncated
 * script does nothing. All values of the user are quoted.
 */
import { quoted } from '../../../base/shell-words.ts';
import { commentOf, controlFolder, sbatchOptions } from './batch-script.ts';
import type { SlurmJob } from './slurm-job.ts';

/** Exit status of a script that must be retried later (EX_TEMPFAIL). */
export const tryAgain = 75;
/** Exit status of a script whose work folder does not exist. */
export const folderGone = 74;

const script = (...lines: readonly string[]): string =>
  ['main() {', 'umask 077', ...lines, '}', 'main </dev/null', ''].join('\n');

const enter = (folder: string): string => `cd -- ${quoted(folder)} || exit ${folderGone}`;

/** Returns the job's folder, relative to the home folder unless `workDir` is absolute. */
export function folderOf({ namespace, name, uid, spec }: SlurmJob): string {
  const base = (spec.workDir ?? `${controlFolder}/${namespace}`).replace(/^~\//, '').replace(/\/+$/, '');
  return `${base === '~' ? '.' : base}/${name}-${uid}`;
}

/** Creates the work folder and prints its absolute path. */
export const prepareScript = (job: SlurmJob): string =>
  script(
    'cd || exit 1',
    `mkdir -p -- ${quoted(`${folderOf(job)}/${controlFolder}`)} || exit 1`,
    `${enter(folderOf(job))}`,
    'pwd -P',
  );

export const foldersScript = (folder: string, folders: readonly string[]): string =>
  script(enter(folder), ...folders.map((name) => `mkdir -p -- ${quoted(name)} || exit 1`));

/**
 * Builds at most once at a time, continues if the connection is lost, and waits for the end of the build.
 * Prints the exit status, then the last lines of the output.
 */
export const buildingScript = (folder: string): string =>
  script(
    enter(folder),
    `cd ${controlFolder} || exit 1`,
    'if [ ! -e build-exit ]; then',
    `  setsid sh -c ${quoted(
      [
        'exec 9>build-lock',
        'flock -n 9 || exit 0',
        '[ ! -e build-exit ] && [ ! -e canceled ] || exit 0',
        'echo $$ >build-pid',
        `(cd .. && exec bash -l ${controlFolder}/build.sh) >build.log 2>&1 9>&-`,
        'echo $? >build-exit.new && mv build-exit.new build-exit',
      ].join('\n'),
    )} >/dev/null 2>&1 &`,
    '  wait $!',
    '  flock build-lock true',
    'fi',
    `[ ! -e canceled ] || { echo canceled; exit ${tryAgain}; }`,
    `[ -e build-exit ] || { echo 'the build was interrupted' >&2; exit ${tryAgain}; }`,
    'cat build-exit',
    'tail -c 2000 build.log',
  );

const findInQueue = (uid: string): readonly string[] => [
  // The same comment is on each task of an array; %F is the number of the whole array.
  `list=$(squeue -h -a -u "$(id -un)" -t all -o '%k %F') || exit ${tryAgain}`,
  `id=$(printf '%s\\n' "$list" | awk -v comment=${quoted(commentOf(uid))} '$1 == comment { print $2; exit }')`,
];

/**
 * Reads the output of sbatch and prints the number of the job: the last line that is a number; with
 * --parsable the number before a semicolon and the cluster's name. Wrappers and plugins of sites add lines of
 * their own. Prints nothing if there is no number.
 */
const numberFunction =
  "number() { sed -n 's/^\\([0-9]\\{1,20\\}\\)\\(;.*\\)\\{0,1\\}$/\\1/p; s/^Submitted batch job \\([0-9]\\{1,20\\}\\).*/\\1/p' | tail -n 1; }";

const lock = `exec 9>${controlFolder}/lock; flock -w 60 9 || { echo 'the work folder is locked by another client' >&2; exit ${tryAgain}; }`;

/**
 * Submits at most once, even if others submit the same job at the same time: under a lock, after looking for
 * a recorded number and for the job's comment in the queue. After an attempt without an answer the next one
 * waits `settleSeconds`, after which Slurm's controller either has the request or will never get it; then
 * accounting is queried as well. Prints `id NUMBER`, `canceled`, `unsettled`, or `refused` with the message
 * of sbatch.
 */
export function submitScript(job: SlurmJob, folder: string, settleSeconds: number): string {
  const options = sbatchOptions(job).map(quoted).join(' ');
  return script(
    enter(folder),
    lock,
    `cd ${controlFolder} || exit 1`,
    '[ ! -e canceled ] || { echo canceled; exit 0; }',
    numberFunction,
    'if [ -s job-id ]; then id=$(number <job-id); [ -z "$id" ] || { echo "id $id"; exit 0; }; fi',
    'keep() { echo "$1" >job-id.new && { sync job-id.new 2>/dev/null || sync; } && mv -f job-id.new job-id && echo "id $1"; exit; }',
    ...findInQueue(job.uid),
    '[ -z "$id" ] || keep "$id"',
    'if [ -e attempt ]; then',
    '  began=$(stat -c %Y attempt)',
    `  [ $(($(date +%s) - began)) -ge ${settleSeconds} ] || { echo unsettled; exit 0; }`,
    '  if list=$(sacct -n -P -X -o JobID,Comment -S "$(date -d "@$((began - 60))" +%FT%T)" 2>accounting); then',
    `    id=$(printf '%s\\n' "$list" | awk -F'|' -v comment=${quoted(commentOf(job.uid))} '$2 == comment { sub(/[_+].*/, "", $1); print $1; exit }')`,
    '    [ -z "$id" ] || keep "$id"',
    `  else grep -qi disabled accounting || { cat accounting >&2; exit ${tryAgain}; }`,
    '  fi',
    'fi',
    ': >attempt; sync attempt 2>/dev/null || sync',
    'cd .. || exit 1',
    `answer=$(sbatch --parsable ${options} ${controlFolder}/job.slurm 2>${controlFolder}/refusal 9>&-)`,
    'status=$?',
    `cd ${controlFolder} || exit 1`,
    'if [ $status -eq 0 ]; then',
    `  id=$(printf '%s\\n' "$answer" | number)`,
    '  [ -z "$id" ] || keep "$id"',
    // Slurm has accepted the job. Its comment is in the queue, at the latest at the next query.
    ...findInQueue(job.uid).map((line) => `  ${line}`),
    '  [ -z "$id" ] || keep "$id"',
    '  echo unsettled; exit 0',
    'fi',
    // The attempt is kept if the controller may have accepted it without an answer.
    `case $(cat refusal) in *[Tt]imed\\ out*|*[Zz]ero\\ [Bb]ytes*|*[Cc]ommunication*|*[Rr]eset*) ;; *) [ ! -s refusal ] || rm -f attempt ;; esac`,
    'echo refused; tail -c 4000 refusal',
  );
}

/**
 * Prevents further builds and submissions, and ends existing ones. Prints `ended`, or `still` if Slurm needs
 * longer.
 */
export const cancelScript = (job: SlurmJob, jobID: string | undefined): string =>
  script(
    'cd || exit 1',
    `mkdir -p -- ${quoted(`${folderOf(job)}/${controlFolder}`)} || exit 1`,
    enter(folderOf(job)),
    lock,
    `: >${controlFolder}/canceled`,
    `if [ -s ${controlFolder}/build-pid ] && ! flock -n ${controlFolder}/build-lock true; then`,
    `  kill -s TERM -- "-$(cat ${controlFolder}/build-pid)" 2>/dev/null`,
    'fi',
    numberFunction,
    `id=${jobID === undefined ? `$(cat ${controlFolder}/job-id 2>/dev/null | number)` : quoted(jobID)}`,
    `if [ -z "$id" ]; then`,
    ...findInQueue(job.uid),
    'fi',
    '[ -n "$id" ] || { echo ended; exit 0; }',
    'scancel "$id" 2>/dev/null',
    'for wait in 0.2 0.5 1 2 3 4; do',
    '  if ! states=$(squeue -h -a -t all -j "$id" -o %T 2>&1); then',
    '    case $states in *[Ii]nvalid\\ job*) echo ended; exit 0 ;; esac',
    `    printf '%s\\n' "$states" >&2; exit ${tryAgain}`,
    '  fi',
    '  case $states in *PENDING*|*RUNNING*|*COMPLETING*|*CONFIGURING*|*SUSPENDED*|*STOPPED*|*SIGNALING*|*STAGE_OUT*|*REQUEU*|*RESIZING*) sleep $wait ;; *) echo ended; exit 0 ;; esac',
    'done',
    'echo still',
  );

export const removeScript = (job: SlurmJob): string =>
  script('cd || exit 1', `rm -rf -- ${quoted(folderOf(job))}`);

/** Lists the regular files of the work folder: SIZE, a tab, the path, a NUL. */
export const listScript = (folder: string): string =>
  script(
    enter(folder),
    `find . -path ./${controlFolder} -prune -o -type f -printf '%s\\t%P\\0' | head -c 4000000`,
  );

export interface Followed {
  readonly id: string;
  readonly folder: string;
}

/** Lists the sizes of the output and the ends of tasks: lines of SIZE|PATH. Does not query Slurm. */
export const lookScript = (followed: readonly Followed[]): string => {
  const places = followed.flatMap(({ folder }) =>
    ['stdout*', 'stderr*', 'exited.*', 'build.log'].map(
      (name) => `${quoted(`${folder}/${controlFolder}/`)}${name}`,
    ),
  );
  return script(`stat -c '%s|%n' ${places.join(' ')} 2>/dev/null`, 'true');
};

// Slurm's programs print times in the time zone of the caller.
const inUTC = 'export TZ=UTC0 SLURM_TIME_FORMAT=standard';

/** Queries all jobs in one request to Slurm's controller; the columns are described at queueLines. */
export const queueScript = (followed: readonly Followed[]): string =>
  script(
    inUTC,
    `if list=$(squeue -h -a -t all -j ${quoted(followed.map(({ id }) => id).join(','))} -o '%i|%T|%V|%S|%e|%N|%r' 2>&1); then`,
    `  printf '%s\\n' "$list"`,
    'else',
    '  case $list in *[Ii]nvalid\\ job*) exit 0 ;; esac',
    `  printf '%s\\n' "$list" >&2; exit ${tryAgain}`,
    'fi',
  );

/** Queries all jobs in one request to accounting; the columns are described at accountLines. */
export const accountScript = (ids: readonly string[]): string =>
  script(
    inUTC,
    `sacct -n -P -X -j ${quoted(ids.join(','))} -o JobID,State,ExitCode,Submit,Start,End,NodeList`,
  );
