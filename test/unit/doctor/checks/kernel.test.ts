import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KernelFacts, kernelChecks } from '../../../../src/doctor/checks/kernel.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const facts: KernelFacts = { release: '6.1', fileSystems: ['proc', 'overlay'], lacks: { nft: undefined } };

describe('checks of the kernel', () => {
  it('name each feature that works', () =>
    assert.deepEqual(linesOf(observe(kernelChecks, 'kernel-features', facts)), ['ok: nft works']));

  it('advise loading the module of a feature that the kernel refuses', () => {
    const lacks = { vxlan: { cause: 'refused', reason: 'Unknown device type' } } as const;
    const [one] = observe(kernelChecks, 'kernel-features', { ...facts, lacks });
    assert.equal(one?.severity, 'fault');
    assert.equal(one?.mend, 'modprobe vxlan');
    assert.deepEqual(one?.fix, { kind: 'module', name: 'vxlan' });
  });

  it('advise installing the package of a missing program with the package manager of the machine', () => {
    const lacks = { nft: { cause: 'missing', reason: 'nft: not found' } } as const;
    const mend = (packageManager: 'apt' | 'dnf') =>
      observe(kernelChecks, 'kernel-features', { ...facts, lacks }, { packageManager })[0]?.mend;
    assert.match(mend('apt') ?? '', /^apt-get .* install --yes .* nftables$/);
    assert.equal(mend('dnf'), 'dnf install --assumeyes nftables');
  });

  it('report a feature that may not be tried as unknown', () => {
    const lacks = { nft: { cause: 'forbidden', reason: 'not permitted' } } as const;
    assert.deepEqual(linesOf(observe(kernelChecks, 'kernel-features', { ...facts, lacks })), [
      'note: nft cannot be used: not permitted',
    ]);
  });

  it('require the file system overlay', () => {
    assert.deepEqual(linesOf(observe(kernelChecks, 'kernel-overlayfs', facts)), ['ok: file system overlay']);
    assert.deepEqual(
      linesOf(observe(kernelChecks, 'kernel-overlayfs', { ...facts, fileSystems: ['overlayfs'] })),
      ['fault: kernel 6.1 has no file system overlay # modprobe overlay'],
    );
  });

  it('warn about a table of connections that is four fifths full', () => {
    const at = (count: number) =>
      linesOf(observe(kernelChecks, 'kernel-conntrack', { ...facts, conntrack: { count, max: 1000 } }));
    assert.deepEqual(at(799), ['ok: 799 of 1000 tracked connections']);
    assert.deepEqual(at(800), [
      'warning: 800 of 1000 tracked connections # sysctl -w net.netfilter.nf_conntrack_max=2000',
    ]);
    assert.deepEqual(at(1000), [
      'fault: 1000 of 1000 tracked connections # sysctl -w net.netfilter.nf_conntrack_max=2000',
    ]);
    assert.deepEqual(linesOf(observe(kernelChecks, 'kernel-conntrack', facts)), [
      'note: connection tracking is not loaded yet',
    ]);
  });
});
