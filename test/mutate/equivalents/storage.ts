import type { Equivalent } from '../equivalent.ts';

export const storage: readonly Equivalent[] = [
  ...[
    'this.#first * 2 > this.#items.length → true',
    'this.#first * 2 > this.#items.length → false',
    'this.#first * 2 > this.#items.length → this.#first * 2 >= this.#items.length',
    'this.#first * 2 → this.#first / 2',
    '2 → 3',
  ].map((change) => ({
    file: 'src/storage/fifo.ts',
    line: 'if (this.#first * 2 > this.#items.length) {',
    change,
    because: 'when those that have gone are let go changes only what time and memory it takes',
  })),
  ...[
    ['if (keys.length > 0) return;', 'keys.length > 0 → true'],
    ['if (keys.length > 0) return;', 'keys.length > 0 → keys.length >= 0'],
    ['let nested = false;', 'false → true'],
    [
      'nested ||= previous !== undefined && name.startsWith(previous);',
      'previous !== undefined && name.startsWith(previous) → (previous !== undefined)',
    ],
    [
      'const interleaved = nested || (own !== prefix && parts.length > 1);',
      'own !== prefix && parts.length > 1 → (own !== prefix)',
    ],
    [
      'const interleaved = nested || (own !== prefix && parts.length > 1);',
      'own !== prefix && parts.length > 1 → (parts.length > 1)',
    ],
    [
      'const interleaved = nested || (own !== prefix && parts.length > 1);',
      'parts.length > 1 → parts.length >= 1',
    ],
    ['return interleaved ? all.sort((a, b) => (a.key < b.key ? -1 : 1)) : all;', 'interleaved → true'],
    ["return key.slice(0, key.lastIndexOf('/') + 1);", "key.slice(0, key.lastIndexOf('/') + 1) → key"],
    ["return key.slice(0, key.lastIndexOf('/') + 1);", "'/' → ''"],
  ].map(([line = '', change = '']) => ({
    file: 'src/storage/object-index.ts',
    line,
    change,
    because:
      'what is in order is put in order once more, or kept in more and smaller parts: it only saves time',
  })),
  {
    file: 'src/storage/codec.ts',
    line: 'const seam = findSeam(bytes) ?? findSeam(encodeObject(decodeObject(bytes, 0)));',
    change: '0 → 1',
    because: 'the bytes to store carry no revision',
  },
  ...[['if (!page.more || !last) break;', '!page.more || !last → (!page.more)']].map(
    ([line = '', change = '']) => ({
      file: 'src/storage/watch-cache.ts',
      line,
      change,
      because: 'a page that says that there is more has items',
    }),
  ),
  ...[['if (this.#revision === 0) {', 'this.#revision === 0 → true']].map(([line = '', change = '']) => ({
    file: 'src/storage/watch-cache.ts',
    line,
    change,
    because: 'it only asks the store once more: what is settled stays so',
  })),
  ...[['#revision = 0;', '0 → 1']].map(([line = '', change = '']) => ({
    file: 'src/storage/watchers.ts',
    line,
    change,
    because: 'nothing is handed out before the first event, which sets it',
  })),
  ...[
    [
      'if (group.watchers.size > 0 || this.#groups.get(prefix) !== group) return;',
      'group.watchers.size > 0 → group.watchers.size >= 0',
    ],
    [
      'if (group.watchers.size > 0 || this.#groups.get(prefix) !== group) return;',
      'group.watchers.size > 0 || this.#groups.get(prefix) !== group → true',
    ],
    ['this.#groups.delete(prefix);', 'this.#groups.delete(prefix); → ;'],
  ].map(([line = '', change = '']) => ({
    file: 'src/storage/watchers.ts',
    line,
    change,
    because: 'a group without watchers takes events that nobody gets: it only frees memory',
  })),
  ...[["for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {", '1 → 2']].map(
    ([line = '', change = '']) => ({
      file: 'src/storage/watchers.ts',
      line,
      change,
      because: 'no part of a key is empty, so two slashes are never side by side',
    }),
  ),
  ...[[": { type: 'failed', found: readFailure(write, response) };", "'failed' → ''"]].map(
    ([line = '', change = '']) => ({
      file: 'src/storage/etcd-write.ts',
      line,
      change,
      because: 'what is neither of the two others is this one; the compiler allows these three',
    }),
  ),
  ...[
    ["if (revision >= fence) return 'never';", "'never' → ''"],
    ["return write.expected === 0 ? 'unclear' : 'never';", "'never' → ''"],
  ].map(([line = '', change = '']) => ({
    file: 'src/storage/etcd-history.ts',
    line,
    change,
    because: 'what is neither of the two others is this one; the compiler allows these three',
  })),
  ...[['let marked = 0;', '0 → 1']].map(([line = '', change = '']) => ({
    file: 'src/storage/etcd-history.ts',
    line,
    change,
    because: 'no write has the revision 0 or 1',
  })),
  ...[
    [
      "return error instanceof RpcError && error.failure === 'unanswered';",
      "error instanceof RpcError && error.failure === 'unanswered' → (error.failure === 'unanswered')",
    ],
  ].map(([line = '', change = '']) => ({
    file: 'src/storage/etcd-rpc.ts',
    line,
    change,
    because: 'nothing else that is thrown has a failure; the compiler asks',
  })),
  ...[['export const nothingElse: RangeRequest = { key: Buffer.from([0]) };', '0 → 1']].map(
    ([line = '', change = '']) => ({
      file: 'src/storage/etcd-rpc.ts',
      line,
      change,
      because: 'there is no key of one byte that no text has, whichever it is',
    }),
  ),
  ...[["signal.addEventListener('abort', cancel, { once: true });", 'true → false']].map(
    ([line = '', change = '']) => ({
      file: 'src/storage/etcd-watch.ts',
      line,
      change,
      because: 'a signal aborts once',
    }),
  ),
  ...[["case 'nothing':", "'nothing' → ''"]].map(([line = '', change = '']) => ({
    file: 'src/storage/etcd-watch.ts',
    line,
    change,
    because: 'nothing is done for it, as for what there is no case for; the linter wants all of them',
  })),
  ...[['for (let at = start; at < bytes.length; at++) {', 'at < bytes.length → at <= bytes.length']].map(
    ([line = '', change = '']) => ({
      file: 'src/storage/codec.ts',
      line,
      change,
      because: 'behind the end there is no byte, which is none of those that count',
    }),
  ),
  ...[
    [
      'const all = parts.length === 1 ? (parts[0] as CachedObject[]).slice() : parts.flat();',
      'parts.length === 1 → false',
    ],
  ].map(([line = '', change = '']) => ({
    file: 'src/storage/object-index.ts',
    line,
    change,
    because: 'of one part both are a copy: it only saves time',
  })),
  ...[['return quoted === undefined ? [] : readString(quoted);', 'quoted === undefined → false']].map(
    ([line = '', change = '']) => ({
      file: 'src/storage/etcd-output.ts',
      line,
      change,
      because: 'what is not there is no text, and is left out afterwards',
    }),
  ),
  ...[
    ['#lastRevision = 0;', '0 → 1'],
    [
      'if (header.cluster_id !== this.#cluster || revision > this.#lastRevision) this.#lastRevision = revision;',
      'revision > this.#lastRevision → revision >= this.#lastRevision',
    ],
    [
      'if (revision > this.#lastRevision) this.#lastRevision = revision;',
      'revision > this.#lastRevision → revision >= this.#lastRevision',
    ],
  ].map(([line = '', change = '']) => ({
    file: 'src/storage/etcd-calls.ts',
    line,
    change,
    because: 'the first answer sets it, and to set it to what it is changes nothing',
  })),
  {
    file: 'src/storage/etcd-watches.ts',
    line: 'this.#open.delete(open);',
    change: 'this.#open.delete(open); → ;',
    because: 'a watch that is over has no stream, so nothing is asked of it: it only frees memory',
  },
  {
    file: 'src/storage/etcd-watches.ts',
    line: "const put = { request_put: { key: markerKey(prefix, 'progress'), value: Buffer.alloc(0) } };",
    change: '0 → 1',
    because: 'that the marker is written counts, and not what it holds',
  },
  {
    file: 'src/storage/embedded-etcd.ts',
    line: '...{ pid: undefined, startedAt: 0, advice: undefined, isLogChecked: false, peers: options.peers },',
    change: '0 → 1',
    because: 'it is set when a process starts, and read only while there is one',
  },
  {
    file: 'src/storage/etcd-process.ts',
    line: "signal.addEventListener('abort', end, { once: true });",
    change: 'true → false',
    because: 'a signal aborts once',
  },
  ...['pid > 0 → pid >= 0', 'pid > 0 && pid !== process.pid → (pid !== process.pid)', '0 → 1'].map(
    (change) => ({
      file: 'src/storage/leftover-process.ts',
      line: "const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);",
      change,
      because: 'nothing is there by the name of no number or of 0, and the first process was left by nobody',
    }),
  ),
  {
    file: 'src/storage/leftover-process.ts',
    line: "send(pid, 'SIGTERM');",
    change: "'SIGTERM' → ''",
    because: 'a signal without a name is this one',
  },
];
