/** Texts of the scripts of the login host; test/integration runs them by a shell. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { quoted } from '../../../../../src/base/shell-words.ts';
import {
  accountScript,
  buildingScript,
  cancelScript,
  folderGone,
  foldersScript,
  listScript,
  lookScript,
  prepareScript,
  queueScript,
  removeScript,
  submitScript,
  tryAgain,
} from '../../../../../src/features/slurm/client/host-scripts.ts';
import type { SlurmJob, SlurmJobSpec } from '../../../../../src/features/slurm/client/slurm-job.ts';

const jobOf = (spec: SlurmJobSpec = {}): SlurmJob => ({
  ...{ namespace: 'default', name: 'add', uid: 'u-1', status: undefined, deleting: false },
  spec: { run: ['true'], ...spec },
});
/** Path that would run a program if a shell read it unquoted. */
const hostile = "/w/$(touch x)'; touch y; '";

const all: Readonly<Record<string, string>> = {
  prepare: prepareScript(jobOf({ workDir: hostile })),
  folders: foldersScript(hostile, [`${hostile}/in`]),
  build: buildingScript(hostile),
  submit: submitScript(jobOf({ partition: hostile }), hostile, 120),
  cancel: cancelScript(jobOf({ workDir: hostile }), hostile),
  remove: removeScript(jobOf({ workDir: hostile })),
  list: listScript(hostile),
  look: lookScript([{ id: '7', folder: hostile }]),
  queue: queueScript([{ id: hostile, folder: '/w' }]),
  account: accountScript([hostile]),
};

/** Asserts that the script has the texts, in this order. */
function inOrder(script: string, texts: readonly string[]): void {
  let from = 0;
  for (const text of texts) {
    const at = script.indexOf(text, from);
    assert.ok(at >= 0, `${JSON.stringify(text)} is missing or too early in\n${script}`);
    from = at + text.length;
  }
}

describe('every script', () => {
  for (const [name, script] of Object.entries(all)) {
    it(`is one function that runs after its last line, privately and without input: ${name}`, () => {
      assert.ok(script.startsWith('main() {\numask 077\n'), script);
      assert.ok(script.endsWith('\n}\nmain </dev/null\n'), script);
      assert.equal(script.match(/^main\b/gm)?.length, 2);
    });
    it(`contains the values of the user only in quotes: ${name}`, () => {
      // Within quotes a single quote is written as '\'' alone.
      const inQuotes = quoted(hostile).slice(1, -1);
      assert.ok(script.includes(inQuotes), script);
      assert.ok(!script.replaceAll(inQuotes, '').includes('touch'), script);
    });
  }
  it('rejects a NUL in a value', () => {
    assert.throws(() => listScript('/w/\0'), /NUL/);
  });
  it('reports a missing work folder by a status that differs from that of a retry', () => {
    assert.deepEqual([folderGone, tryAgain], [74, 75]);
    for (const script of [
      prepareScript(jobOf()),
      foldersScript('/w', []),
      buildingScript('/w'),
      submitScript(jobOf(), '/w', 120),
      cancelScript(jobOf(), '7'),
      listScript('/w'),
    ])
      assert.match(script, /^cd -- '.*' \|\| exit 74$/m);
  });
});

it('prepareScript creates the folders below the home and prints the absolute path last', () => {
  inOrder(prepareScript(jobOf()), [
    'cd || exit 1',
    "mkdir -p -- '.minik8s/default/add-u-1/.minik8s' || exit 1",
    "cd -- '.minik8s/default/add-u-1' || exit 74",
    'pwd -P\n}',
  ]);
});

it('foldersScript creates each folder in the work folder', () => {
  inOrder(foldersScript('/w', ['a', 'b/c']), [
    "cd -- '/w' || exit 74",
    "mkdir -p -- 'a' || exit 1",
    "mkdir -p -- 'b/c' || exit 1",
  ]);
});

it('buildingScript builds under a lock, unless there is a result or a cancellation', () => {
  const script = buildingScript('/w');
  inOrder(script, [
    'if [ ! -e build-exit ]',
    'exec 9>build-lock',
    'flock -n 9 || exit 0',
    '[ ! -e build-exit ] && [ ! -e canceled ] || exit 0',
    'echo $$ >build-pid',
    'exec bash -l .minik8s/build.sh) >build.log 2>&1 9>&-',
    'echo $? >build-exit.new && mv build-exit.new build-exit',
    'wait $!',
    'flock build-lock true',
    'fi',
    '[ ! -e canceled ] || { echo canceled; exit 75; }',
    "[ -e build-exit ] || { echo 'the build was interrupted' >&2; exit 75; }",
    'cat build-exit',
    'tail -c 2000 build.log',
  ]);
});

describe('submitScript', () => {
  const script = submitScript(jobOf({ nodes: 2 }), '/w', 45);
  it('submits under the lock, and only if it finds no sign of an earlier submission', () => {
    inOrder(script, [
      "cd -- '/w' || exit 74",
      'flock -w 60 9',
      '[ ! -e canceled ] || { echo canceled; exit 0; }',
      'if [ -s job-id ]; then id=$(number <job-id)',
      `squeue -h -a -u "$(id -un)" -t all -o '%k %F') || exit 75`,
      `comment='minik8s:u-1'`,
      '[ -z "$id" ] || keep "$id"',
      'if [ -e attempt ]; then',
      'began=$(stat -c %Y attempt)',
      '[ $(($(date +%s) - began)) -ge 45 ] || { echo unsettled; exit 0; }',
      'sacct -n -P -X -o JobID,Comment',
      '[ -z "$id" ] || keep "$id"',
      ': >attempt',
      "answer=$(sbatch --parsable '--job-name=add' '--nodes=2'",
      '.minik8s/job.slurm 2>.minik8s/refusal 9>&-)',
      'status=$?',
      '[ -z "$id" ] || keep "$id"',
      'squeue -h',
      '[ -z "$id" ] || keep "$id"',
      'echo unsettled; exit 0',
      'echo refused; tail -c 4000 refusal',
    ]);
    assert.equal(script.match(/sbatch --parsable/g)?.length, 1);
  });
  it('records the number before it prints it', () => {
    inOrder(script, [
      'keep() {',
      '>job-id.new',
      'sync job-id.new',
      'mv -f job-id.new job-id',
      'echo "id $1"',
    ]);
  });
  it('keeps the attempt if the controller may have accepted it without an answer', () => {
    inOrder(script, ['[Tt]imed\\ out', '[Zz]ero\\ [Bb]ytes', '[Cc]ommunication', '[Rr]eset', ') ;; *)']);
    inOrder(script, ['[ ! -s refusal ] || rm -f attempt', 'esac', 'echo refused']);
  });
});

describe('cancelScript', () => {
  it('prevents builds and submissions under the lock before it ends running ones', () => {
    inOrder(cancelScript(jobOf(), '7'), [
      "mkdir -p -- '.minik8s/default/add-u-1/.minik8s' || exit 1",
      'flock -w 60 9',
      ': >.minik8s/canceled',
      'if [ -s .minik8s/build-pid ] && ! flock -n .minik8s/build-lock true; then',
      'kill -s TERM -- "-$(cat .minik8s/build-pid)"',
      "id='7'",
      'squeue -h -a -u',
      '{ echo ended; exit 0; }',
      'scancel "$id"',
      'squeue -h -a -t all -j "$id" -o %T',
      '*PENDING*|*RUNNING*|*COMPLETING*',
      'echo still',
    ]);
  });
  it('uses the number that the submission recorded if the status has none', () => {
    const script = cancelScript(jobOf(), undefined);
    assert.match(script, /^id=\$\(cat \.minik8s\/job-id 2>\/dev\/null \| number\)$/m);
    inOrder(script, ['number() {', 'id=$(cat']);
  });
});

it('removeScript removes the work folder of the job alone', () => {
  assert.match(removeScript(jobOf({ workDir: '/s' })), /^cd \|\| exit 1\nrm -rf -- '\/s\/add-u-1'$/m);
});

it('listScript lists regular files outside the folder of the client, at most 4 MB of names', () => {
  inOrder(listScript('/w'), [
    "cd -- '/w' || exit 74",
    'find . -path ./.minik8s -prune -o -type f',
    `-printf '%s\\t%P\\0'`,
    '| head -c 4000000',
  ]);
});

it('lookScript lists output, errors, exit statuses and the log of the build of every job', () => {
  const [line] = /^stat .*$/m.exec(
    lookScript([
      { id: '1', folder: '/a b' },
      { id: '2', folder: '/c' },
    ]),
  ) ?? [''];
  const places = ["'/a b/.minik8s/'", "'/c/.minik8s/'"].flatMap((folder) =>
    ['stdout*', 'stderr*', 'exited.*', 'build.log'].map((name) => folder + name),
  );
  assert.equal(line, `stat -c '%s|%n' ${places.join(' ')} 2>/dev/null`);
});

describe('queries of Slurm', () => {
  it('use one request for all jobs, with times in UTC and the columns of the parsers', () => {
    const queue = queueScript([
      { id: '7', folder: '/a' },
      { id: '8', folder: '/b' },
    ]);
    inOrder(queue, [
      'export TZ=UTC0 SLURM_TIME_FORMAT=standard',
      "squeue -h -a -t all -j '7,8' -o '%i|%T|%V|%S|%e|%N|%r' 2>&1",
    ]);
    inOrder(accountScript(['7', '8']), [
      'export TZ=UTC0 SLURM_TIME_FORMAT=standard',
      "sacct -n -P -X -j '7,8' -o JobID,State,ExitCode,Submit,Start,End,NodeList",
    ]);
  });
  it('accept that squeue does not list the number, and report every other failure', () => {
    inOrder(queueScript([{ id: '7', folder: '/a' }]), [
      'else',
      '*[Ii]nvalid\\ job*) exit 0 ;;',
      `printf '%s\\n' "$list" >&2; exit 75`,
    ]);
  });
});
