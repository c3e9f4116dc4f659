import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrittenMappings } from '../../../src/os/mappings.ts';

const mapping = (head: string, anonymousKb: number) =>
  `${head}\nSize:  4 kB\nRss:  4 kB\nAnonymous:  ${anonymousKb} kB\nLazyFree: 0 kB\nVmFlags: rd ex\n`;

test('mappings of the file are unwritten if they are read-only and none of their pages is anonymous', () => {
  const smaps = [
    mapping('0082e000-03489000 r-xp 0042e000 fe:00 123    /usr/local/bin/mini k8s', 0),
    mapping('72a7000-72dc000 r--p 06ea6000 fe:00 123      /usr/local/bin/mini k8s', 212),
    mapping('72dc000-7308000 rw-p 06edb000 fe:00 123      /usr/local/bin/mini k8s', 0),
    mapping('7308000-7359000 rw-p 00000000 00:00 0 ', 0),
    mapping('7f0000000000-7f0000001000 r--p 00000000 fe:00 9   /usr/lib/libc.so.6', 0),
    mapping('ffffe00000000000-ffffe00000001000 r--p 06f5b000 fe:00 123 /usr/local/bin/mini k8s', 0),
  ].join('');
  assert.deepEqual(unwrittenMappings(smaps, '/usr/local/bin/mini k8s'), [
    { start: 0x82e000n, end: 0x3489000n },
    { start: 0xffffe00000000000n, end: 0xffffe00000001000n },
  ]);
  assert.deepEqual(unwrittenMappings('', '/x'), []);
});
