import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etcdAdvice, isLasting, readEtcdOutput } from '../../../src/storage/etcd-output.ts';

const warning =
  '{"level":"warn","caller":"auth/store.go:1380","msg":"simple token is not cryptographically signed"}';
const entry = (level: string, msg: string, error?: string) =>
  JSON.stringify({ level, caller: 'x.go:1', msg, error });
const stack = [
  '',
  'goroutine 132 [running]:',
  'go.etcd.io/bbolt.Open(...)',
  '\tgo.etcd.io/bbolt/db.go:1054 +0x1ea',
];

for (const [what, lines, expected] of [
  ['an empty output', [''], { line: '' }],
  ['the last line, if no line has a reason', [warning, 'killed', ''], { line: 'killed' }],
  [
    'a warning about damage that etcd has repaired, which is ignored',
    [
      '{"level":"warn","msg":"ignored file in WAL directory","path":"0.wal.broken","error":"unexpected EOF"}',
      'x',
    ],
    { line: 'x' },
  ],
  [
    'a full disk',
    [warning, entry('fatal', 'failed to save Raft entries', 'write 0.wal: no space left on device')],
    { line: 'failed to save Raft entries: write 0.wal: no space left on device', trouble: 'full' },
  ],
  [
    'a full disk, with a line that was cut',
    [
      '{"level":"fatal","msg":"failed to commit \\"tx\\"","error":"write db: no space left on device","stacktrace":"go.et',
    ],
    { line: 'failed to commit "tx": write db: no space left on device', trouble: 'full' },
  ],
  [
    'a panic that etcd has logged',
    ['{"level":"panic","msg":"execute job failed","job":"x","panic":"not implemented"}'],
    { line: 'execute job failed: not implemented' },
  ],
  [
    'a changed byte in the log',
    [entry('fatal', 'failed to read WAL, cannot be repaired', 'walpb: crc mismatch'), warning],
    { line: 'failed to read WAL, cannot be repaired: walpb: crc mismatch', trouble: 'damaged' },
  ],
  [
    'a truncated database, followed by a stack of Go',
    [warning, 'unexpected fault address 0x7f09b00d1000', 'fatal error: fault', '[signal SIGBUS]', ...stack],
    { line: 'fatal error: fault', trouble: 'damaged' },
  ],
  [
    'a log that is shorter than the committed entries',
    [entry('panic', 'tocommit(9) is out of range [lastIndex(4)]. Was the raft log corrupted?'), ...stack],
    { line: 'tocommit(9) is out of range [lastIndex(4)]. Was the raft log corrupted?', trouble: 'damaged' },
  ],
  [
    'the line about the disk, among several failures',
    [entry('fatal', 'failed to listen'), entry('fatal', 'failed to save', 'disk quota exceeded')],
    { line: 'failed to save: disk quota exceeded', trouble: 'full' },
  ],
  [
    'a page of the database that was zeroed',
    ['panic: assertion failed: Page expected to be: 4, but self identifies as 0', ...stack],
    { line: 'assertion failed: Page expected to be: 4, but self identifies as 0', trouble: 'damaged' },
  ],
  [
    'garbage in the log, at which the program panics',
    [
      'panic: runtime error: invalid memory address or nil pointer dereference',
      '[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0xc69a10]',
      'goroutine 1 [running]:',
      'go.etcd.io/etcd/server/v3/etcdserver.bootstrap({{0x7ffeb295edcc, 0x7}, ...})',
    ],
    { line: 'runtime error: invalid memory address or nil pointer dereference', trouble: 'damaged' },
  ],
  [
    'an error of the runtime while etcd serves',
    ['panic: runtime error: index out of range [3] with length 3', 'goroutine 1 [running]:'],
    { line: 'runtime error: index out of range [3] with length 3' },
  ],
  [
    'a directory in the place of the log',
    [entry('fatal', 'discovery failed', 'read /d/member/wal/0.wal: is a directory')],
    { line: 'discovery failed: read /d/member/wal/0.wal: is a directory', trouble: 'damaged' },
  ],
  [
    'a database of a newer etcd',
    [entry('fatal', 'discovery failed', 'version "3.8.0" is not supported')],
    { line: 'discovery failed: version "3.8.0" is not supported', trouble: 'newer' },
  ],
  [
    'a database of another user',
    [entry('panic', 'failed to open database', 'open db: permission denied')],
    { line: 'failed to open database: open db: permission denied', trouble: 'denied' },
  ],
  [
    'a disk that was mounted read-only',
    [entry('fatal', 'failed to save Raft entries', 'write 0.wal: read-only file system')],
    { line: 'failed to save Raft entries: write 0.wal: read-only file system', trouble: 'read-only' },
  ],
  [
    'a disk that fails',
    [entry('fatal', 'failed to save Raft entries', 'sync 0.wal: input/output error')],
    { line: 'failed to save Raft entries: sync 0.wal: input/output error', trouble: 'failing' },
  ],
  [
    'an etcd that waits for its first write',
    [entry('warn', 'failed to publish local member to cluster through raft', 'request timed out'), 'x'],
    { line: 'x', trouble: 'waiting' },
  ],
  [
    'an etcd that waited, and then ended with a reason',
    [
      entry('warn', 'failed to publish local member to cluster through raft', 'request timed out'),
      entry('fatal', 'failed to listen', 'address in use'),
    ],
    { line: 'failed to listen: address in use' },
  ],
  ['a last line that only resembles damage', ['page 4: read'], { line: 'page 4: read' }],
  ['the last line that is not blank', ['killed', '   '], { line: 'killed' }],
  [
    'text that is not JSON',
    ['{"level":"fatal","msg":"the path C:\\x is wrong"}'],
    { line: '"the path C:\\x is wrong"' },
  ],
  [
    'the removal of the member, whatever follows',
    [
      '{"level":"warn","msg":"data-dir used by this member must be removed"}',
      entry('fatal', 'discovery failed'),
    ],
    { line: 'the member was removed', trouble: 'removed' },
  ],
  [
    'any other failure',
    [entry('fatal', 'failed to listen', 'address in use'), ...stack],
    { line: 'failed to listen: address in use' },
  ],
] as const)
  test(`the reason is read from the output of an etcd that has ended: ${what}`, () =>
    assert.deepEqual(readEtcdOutput(lines.join('\n')), expected));

test('a long line is cut to 500 characters', () =>
  assert.equal(readEtcdOutput('x'.repeat(9_000)).line.length, 500));

const advised = [
  ['full', /^the disk of \/d is full \(L\): make room/, false],
  ['read-only', /^the disk of \/d is read-only \(L\): .*mount it writable again/, false],
  ['failing', /^the disk of \/d fails \(L\): dmesg/, false],
  ['denied', /^the user of minik8s may not write in \/d \(L\): .*chown/, true],
  ['newer', /^the data of etcd in \/d were written by a newer minik8s \(L\): start that version again/, true],
  [
    'removed',
    /^this master was removed from the cluster: stop it, and join again .* token create --master/,
    true,
  ],
  ['damaged', /^the data of etcd in \/d are damaged \(L\): mend it$/, true],
] as const;
for (const [trouble, expected, lasts] of advised)
  test(`the advice for ${trouble} has a remedy`, () => {
    assert.match(etcdAdvice({ line: 'L', trouble }, '/d', 'mend it') ?? '', expected);
    assert.equal(isLasting({ line: 'L', trouble }), lasts);
  });

test('only failures that an administrator has to mend have advice', () => {
  for (const end of [{ line: 'killed' }, { line: 'x', trouble: 'waiting' }] as const) {
    assert.equal(etcdAdvice(end, '/d', 'mend it'), undefined);
    assert.equal(isLasting(end), false);
  }
  assert.match(etcdAdvice({ line: 'L', trouble: 'damaged' }, '/d') ?? '', /minik8s backup restore/);
});
