/** Versions of the suite: the linker's flags, where results lie, and the tags of a version's images. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageNames } from '../../kubernetes-suite/image-names.ts';
import { reasonNotToRun } from '../../kubernetes-suite/not-run.ts';
import { isVersion, linkerFlags, resultsFolder, versionsIn } from '../../kubernetes-suite/versions.ts';

test('the programs of a version report this version', () => {
  const variable = '-X k8s.io/component-base/version.';
  assert.equal(
    linkerFlags('1.37.2'),
    `-s -w ${variable}gitVersion=v1.37.2 ${variable}gitMajor=1 ${variable}gitMinor=37`,
  );
  assert.throws(() => linkerFlags('1.37'), /written like 1\.37\.2, not 1\.37/);
});

test('a version is a release, not a pre-release or a path', () => {
  assert.ok(['1.32.5', '1.37.2', '1.100.0'].every(isVersion));
  assert.ok(!['1.37', 'v1.37.2', '1.37.0-rc.1', '../1.37.2', '1.37.2\n', '2.0.0', ''].some(isVersion));
});

test('the results of 1.32.5 have no folder of their own, those of each other version have one', () => {
  assert.equal(resultsFolder('1.32.5'), '');
  assert.equal(resultsFolder('1.37.2'), '1.37.2');
});

test('the versions with results are found in the folder of results, the newest first', () => {
  const folders = ['nodes-1', 'nodes-2', '1.36.10', 'lock', '1.37.2', '1.36.3'];
  assert.deepEqual(versionsIn(folders), ['1.37.2', '1.36.10', '1.36.3', '1.32.5']);
  assert.deepEqual(versionsIn([]), ['1.32.5']);
});

const manifest = `
	configs[Agnhost] = Config{list.PromoterE2eRegistry, "agnhost", "2.66.1"}
	configs[AgnhostPrivate] = Config{list.PrivateRegistry, "agnhost", "2.6"}
	configs[Etcd] = Config{list.GcEtcdRegistry, "etcd", "3.7.0-0"}
	configs[Nginx] = Config{list.PromoterE2eRegistry, "nginx", "1.27.0-2"}
	configs[NginxNew] = Config{list.PromoterE2eRegistry, "nginx", "1.28.0-2"}
	// configs[Gone] = Config{list.PromoterE2eRegistry, "gone", "1"}
	configs[Pause] = Config{list.GcRegistry, "pause", "3.10.2"}
	configs[i] = config
`;

test('the tags of the images are those of the suite, without images of other registries', () => {
  const tests = 'registry.k8s.io/e2e-test-images';
  assert.deepEqual(Object.fromEntries(imageNames(manifest)), {
    agnhost: [`${tests}/agnhost:2.66.1`],
    etcd: ['registry.k8s.io/etcd:3.7.0-0'],
    nginx: [`${tests}/nginx:1.27.0-2`, `${tests}/nginx:1.28.0-2`],
    pause: ['registry.k8s.io/pause:3.10.2'],
  });
});

test('a file without images is rejected', () => {
  assert.throws(() => imageNames('package image\n'), /has no images/);
});

test('tests for two nodes are recognized wherever a version puts the mark [Serial]', () => {
  for (const name of [
    '[sig-apps] Daemon set [Serial] should rollback without unnecessary restarts',
    '[sig-apps] Daemon set should rollback without unnecessary restarts',
  ]) {
    assert.equal(reasonNotToRun(name, 1), 'asks for two nodes');
    assert.equal(reasonNotToRun(name, 2), undefined);
  }
});
