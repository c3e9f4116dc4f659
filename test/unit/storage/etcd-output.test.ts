import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etcdAdvice, readEtcdOutput } from '../../../src/storage/etcd-output.ts';

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
  ['nothing', [''], { line: '' }],
  ['the last line, when nothing reports more', [warning, 'killed', ''], { line: 'killed' }],
  [
    'a warning about damage is none: it was mended',
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
    'a full disk, which has cut the line too',
    [
      '{"level":"fatal","msg":"failed to commit \\"tx\\"","error":"write db: no space left on device","stacktrace":"go.et',
    ],
    { line: 'failed to commit "tx": write db: no space left on device', trouble: 'full' },
  ],
  [
    'a panic that was caught to be told',
    ['{"level":"panic","msg":"execute job failed","job":"x","panic":"not implemented"}'],
    { line: 'execute job failed: not implemented' },
  ],
  [
    'a byte of the log that was changed',
    [entry('fatal', 'failed to read WAL, cannot be repaired', 'walpb: crc mismatch'), warning],
    { line: 'failed to read WAL, cannot be repaired: walpb: crc mismatch', trouble: 'damaged' },
  ],
  [
    'a database that was cut, behind which Go writes its stack',
    [warning, 'unexpected fault address 0x7f09b00d1000', 'fatal error: fault', '[signal SIGBUS]', ...stack],
    { line: 'fatal error: fault', trouble: 'damaged' },
  ],
  [
    'a log that is shorter than what was agreed',
    [entry('panic', 'tocommit(9) is out of range [lastIndex(4)]. Was the raft log corrupted?'), ...stack],
    { line: 'tocommit(9) is out of range [lastIndex(4)]. Was the raft log corrupted?', trouble: 'damaged' },
  ],
  [
    'that of several which reports of the disk',
    [entry('fatal', 'failed to listen'), entry('fatal', 'failed to save', 'disk quota exceeded')],
    { line: 'failed to save: disk quota exceeded', trouble: 'full' },
  ],
  ['words of damage that nobody said as his last', ['page 4: read'], { line: 'page 4: read' }],
  ['the last line that is not blank', ['killed', '   '], { line: 'killed' }],
  [
    'words that are no JSON',
    ['{"level":"fatal","msg":"the path C:\\x is wrong"}'],
    { line: '"the path C:\\x is wrong"' },
  ],
  [
    'that the others have removed the member, whatever follows',
    [
      '{"level":"warn","msg":"data-dir used by this member must be removed"}',
      entry('fatal', 'discovery failed'),
    ],
    { line: 'the member was removed', trouble: 'removed' },
  ],
  [
    'a failure that is neither',
    [entry('fatal', 'failed to listen', 'address in use'), ...stack],
    { line: 'failed to listen: address in use' },
  ],
] as const)
  test(`etcd's last words: ${what}`, () => assert.deepEqual(readEtcdOutput(lines.join('\n')), expected));

test('a long line is cut', () => assert.equal(readEtcdOutput('x'.repeat(9_000)).line.length, 500));

test("the advice names the directory and the line, and is given for an administrator's tasks only", () => {
  assert.equal(etcdAdvice({ line: 'killed' }, '/d'), undefined);
  assert.match(
    etcdAdvice({ line: 'L', trouble: 'full' }, '/d') ?? '',
    /^the disk of \/d is full \(L\): make room/,
  );
  assert.match(
    etcdAdvice({ line: 'L', trouble: 'damaged' }, '/d') ?? '',
    /^the data of etcd in \/d are damaged \(L\): .*restore a snapshot/,
  );
  assert.match(
    etcdAdvice({ line: 'L', trouble: 'removed' }, '/d') ?? '',
    /^this master was removed from the cluster: stop it, and join again .* token create --master/,
  );
});
