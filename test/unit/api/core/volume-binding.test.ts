/** Volumes that may be bound to a claim. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundVolume, rankVolumes, volumeFault } from '../../../../src/api/core/v1/volume/binding.ts';
import { claim, referenceTo, volume } from '../../controllers/volumes/objects.ts';

const sized = (name: string, storage: string, spec: object = {}) =>
  volume(name, { spec: { capacity: { storage }, ...spec } });
const chosen = (...args: Parameters<typeof rankVolumes>) => rankVolumes(...args)[0]?.metadata.name;

describe('the volume for a claim', () => {
  const mine = claim('c', { spec: { resources: { requests: { storage: '5Gi' } } } });
  it('is the smallest that is large enough', () => {
    const volumes = [sized('huge', '50Gi'), sized('small', '1Gi'), sized('fit', '6144Mi'), sized('b', '6Gi')];
    assert.equal(chosen(mine, volumes), 'b');
    assert.equal(chosen(mine, volumes.slice(0, 2)), 'huge');
    assert.equal(chosen(mine, [sized('small', '5119Mi')]), undefined);
  });
  it('has the requested access modes, and the fewest further ones', () => {
    const all = sized('all', '5Gi', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'] });
    const two = sized('two', '9Gi', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] });
    assert.equal(chosen(mine, [all, two]), 'two');
    const shared = claim('c', { spec: { accessModes: ['ReadWriteMany'] } });
    assert.equal(chosen(shared, [two, all]), 'all');
  });
  for (const [what, spec, fits] of [
    ['of another class', { storageClassName: 'fast' }, false],
    ['a block device', { volumeMode: 'Block' as const }, false],
    ['for another claim', { claimRef: referenceTo('other') }, false],
    ['for an earlier claim of the same name', { claimRef: referenceTo('c', 'before') }, false],
    ['for this claim', { claimRef: referenceTo('c') }, true],
    ['for any claim with the name', { claimRef: referenceTo('c', '') }, true],
    ['for this claim, with any class', { claimRef: referenceTo('c'), storageClassName: 'fast' }, true],
  ] as const)
    it(`${fits ? 'may' : 'must not'} be ${what}`, () => {
      assert.equal(chosen(mine, [sized('v', '5Gi', spec)]), fits ? 'v' : undefined);
    });
  it('matches the selector, is Available and is not marked for deletion', () => {
    const picky = claim('c', { spec: { selector: { matchLabels: { disk: 'ssd' } } } });
    const labelled = volume('v', { metadata: { labels: { disk: 'ssd' } } });
    assert.equal(chosen(picky, [volume('w'), labelled]), 'v');
    for (const other of [
      volume('v', { status: { phase: 'Released' } }),
      volume('v', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    ])
      assert.equal(chosen(claim('c'), [other]), undefined);
  });
  it('is the volume reserved for the claim, and no other volume if the reserved one is required', () => {
    const volumes = [volume('a'), volume('z', { spec: { claimRef: referenceTo('c') } })];
    assert.equal(chosen(claim('c'), volumes), 'z');
    assert.equal(chosen(claim('c'), [volume('a')], true), undefined);
    assert.equal(chosen(claim('c'), volumes, true), 'z');
  });
});

describe('a volume that is requested by name', () => {
  for (const [over, fault] of [
    [{}, undefined],
    [{ spec: { capacity: { storage: '1Mi' } } }, 'requested PV is too small'],
    [{ spec: { storageClassName: 'a' } }, 'storageClassName does not match'],
    [{ spec: { volumeMode: 'Block' as const } }, 'incompatible volumeMode'],
    [{ spec: { accessModes: ['ReadOnlyMany'] } }, 'incompatible accessMode'],
    [{ metadata: { deletionTimestamp: 't' } }, 'the volume is marked for deletion "v"'],
  ] satisfies [Parameters<typeof volume>[1], string | undefined][])
    it(`is rejected with: ${fault}`, () => assert.equal(volumeFault(volume('v', over), claim('c')), fault));
});

describe('a bound volume', () => {
  it('names its claim, and the component that bound it', () => {
    const bound = boundVolume(volume('v'), claim('c'));
    assert.equal(bound?.spec.claimRef?.uid, 'uid-c');
    assert.deepEqual(bound?.metadata.annotations, { 'pv.kubernetes.io/bound-by-controller': 'yes' });
  });
  it('gets the uid of the claim and no annotation if a user reserved it', () => {
    const bound = boundVolume(volume('v', { spec: { claimRef: referenceTo('c', '') } }), claim('c'));
    assert.equal(bound?.spec.claimRef?.uid, 'uid-c');
    assert.equal(bound?.metadata.annotations, undefined);
  });
  it('is not written twice', () => {
    assert.equal(boundVolume(volume('v', { spec: { claimRef: referenceTo('c') } }), claim('c')), undefined);
  });
});
