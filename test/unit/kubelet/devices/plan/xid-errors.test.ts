/** Lines of the kernel's log after which an NVIDIA card cannot be used any more. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { busAddress, readCardNews } from '../../../../../src/kubelet/devices/plan/xid-errors.ts';

const record = (text: string, priority = 3) => `${priority},1234,56789012,-;${text}`;
const failed = (address: string, xid: number) => ({ kind: 'error', address, xid });

describe('a line of the kernel log', () => {
  for (const [text, expected] of [
    [
      'NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=app, GPU has fallen off the bus.',
      failed('0000:3b:00', 79),
    ],
    ["NVRM: Xid (PCI:0000:3B:00): 48, pid='<unknown>', name=<unknown>", failed('0000:3b:00', 48)],
    ['NVRM: Xid (0000:3b:00): 62, 0cb5(2d50) 8503 00000000', failed('0000:3b:00', 62)],
    ['NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 95, pid=7', failed('0000:3b:00', 95)],
    ['NVRM: Xid (PCI:00010000:3b:00): 119, Timeout', failed('10000:3b:00', 119)],
    ['NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15', { kind: 'loaded' }],
    ['NVRM: GPU at PCI:0000:3b:00: GPU-5b6f0c1e-0000-1111-2222-333344445555', undefined],
    ['NVRM: Xid (PCI:nothing): 79, x', undefined],
    ['NVRM: Xid (PCI:3b:00): 79, x', undefined],
    ['NVRM: Xid (PCI:0000:3b:00): 99999999999999999999, x', undefined],
    ['a program says NVRM: Xid (PCI:0000:3b:00): 79, x', undefined],
    ['', undefined],
  ] as const)
    it(`${JSON.stringify(text)} means ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(readCardNews(record(text)), expected);
    });

  it('is ignored if the number is that of an error of a program', () => {
    for (const xid of [13, 31, 43, 45, 68, 109])
      assert.equal(readCardNews(record(`NVRM: Xid (PCI:0000:3b:00): ${xid}, pid=1`)), undefined, `${xid}`);
    for (const xid of [1, 12, 14, 32, 46, 48, 63, 64, 74, 79, 94, 95, 110, 119, 143])
      assert.deepEqual(
        readCardNews(record(`NVRM: Xid (PCI:0000:3b:00): ${xid}, pid=1`)),
        failed('0000:3b:00', xid),
      );
  });
  it('is used only if the kernel wrote it, at any level', () => {
    const text = 'NVRM: Xid (PCI:0000:3b:00): 79, x';
    for (const level of [0, 3, 7]) assert.ok(readCardNews(record(text, level)), `${level}`);
    // Facilities 1 (user) and 3 (daemon): a program that may write to /dev/kmsg must not disable a card.
    for (const priority of [8, 12, 27]) assert.equal(readCardNews(record(text, priority)), undefined);
  });
  it('returns nothing for a line that is not a kernel record', () => {
    const text = 'NVRM: Xid (PCI:0000:3b:00): 79, x';
    for (const line of [text, ' SUBSYSTEM=pci', `;${text}`, `3,1;${text}`, `x,1,2,-;${text}`])
      assert.equal(readCardNews(line), undefined, line);
  });
});

it('the address of a card is the same with and without its function, and for any length of its domain', () => {
  for (const [text, address] of [
    ['0000:3b:00.0', '0000:3b:00'],
    ['0000:3B:00', '0000:3b:00'],
    ['00000000:3b:00.0', '0000:3b:00'],
    ['00010000:01:00.0', '10000:01:00'],
    ['0000:3b:00.8', undefined],
    ['3b:00.0', undefined],
    ['information', undefined],
  ] as const)
    assert.equal(busAddress(text), address, text);
});
