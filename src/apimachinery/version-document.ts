/** The version of a server or a client in Kubernetes' form: its API's level, and the product's version. */
import { kubernetesLevel } from './kubernetes-level.ts';

const { major, minor } = kubernetesLevel;

/** Returns what `/version` answers, and what the client reports of itself. */
export function versionDocument(product: string): Readonly<Record<string, string>> {
  return {
    major,
    minor: minor,
    // A version has at most one '+' (semver 10), which the product's own version may use for its commit.
    gitVersion: `v${major}.${minor}.0+minik8s-${product.replaceAll('+', '.')}`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
