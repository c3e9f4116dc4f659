/** The generated files, by their paths relative to config/monitoring. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { grafanaBoard } from './boards/board.ts';
import { boards } from './boards/index.ts';
import { withHttpDiscovery } from './http-sd.ts';

export const monitoringDirectory = import.meta.dirname;

export async function generated(): Promise<ReadonlyMap<string, string>> {
  const config = await readFile(join(monitoringDirectory, 'prometheus.yml'), 'utf8');
  return new Map([
    ['prometheus-http-sd.yml', withHttpDiscovery(config)],
    ['../../samples/monitoring/configuration.yaml', await configMap(config)],
    ...boards.map(
      (board) =>
        [
          `grafana/dashboards/${board.uid}.json`,
          `${JSON.stringify(grafanaBoard(board), undefined, 1)}\n`,
        ] as const,
    ),
  ]);
}

/**
 * Returns a ConfigMap for a Prometheus in the cluster. Keys of a ConfigMap cannot be paths: the pod maps each
 * key to its path.
 */
async function configMap(config: string): Promise<string> {
  const rules = join(monitoringDirectory, 'rules');
  const names = (await readdir(rules)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(rules, name), 'utf8')));
  const data = {
    'prometheus.yml': config,
    ...Object.fromEntries(names.map((name, index) => [name, texts[index]])),
  };
  const metadata = { name: 'prometheus', namespace: 'monitoring' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  return `# Made by config/monitoring/generate.ts.\n${stringify(object, { lineWidth: 0, blockQuote: 'literal' })}`;
}
