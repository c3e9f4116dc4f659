/** `/version`: the level of the API that is served, which is what clients choose their behaviour by. */
import { kubernetesLevel } from '../base/kubernetes-level.ts';

const { major, minor } = kubernetesLevel;

export function versionDocument(product: string): Readonly<Record<string, string>> {
  return {
    major,
    minor: minor,
    // A version has one '+' (semver 10), and the product's own may be used up by its commit.
    gitVersion: `v${major}.${minor}.0+minik8s-${product.replaceAll('+', '.')}`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
