/**
 * `@kubernetes/client-node`, loaded when a test first uses it: its 1,200 modules take as long as the start of
 * a test's host, and most tests do without.
 */
import { createRequire } from 'node:module';
import type { KubeConfig } from '@kubernetes/client-node';

const require = createRequire(import.meta.url);

export const clientNode = () =>
  require('@kubernetes/client-node') as typeof import('@kubernetes/client-node');

/** Returns the configuration of a client for the user of a kubeconfig. */
export function readKubeConfig(path: string): KubeConfig {
  const { KubeConfig } = clientNode();
  const config = new KubeConfig();
  config.loadFromFile(path);
  return config;
}
