/** The files in config/monitoring are the ones that the generators of prometheus.yml and the boards make. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { grafanaBoard, type Panel } from '../../../../config/monitoring/boards/board.ts';
import { boards } from '../../../../config/monitoring/boards/index.ts';
import { generated, monitoringDirectory } from '../../../../config/monitoring/generated.ts';
import { withHttpDiscovery } from '../../../../config/monitoring/http-sd.ts';

const config = readFileSync(join(monitoringDirectory, 'prometheus.yml'), 'utf8');

test('the files are the output of node config/monitoring/generate.ts', async () => {
  const files = await generated();
  for (const [path, text] of files)
    assert.equal(readFileSync(join(monitoringDirectory, path), 'utf8'), text, path);
  const dashboards = readdirSync(join(monitoringDirectory, 'grafana/dashboards'));
  assert.deepEqual(
    dashboards.map((name) => `grafana/dashboards/${name}`).sort(),
    [...files.keys()].filter((path) => path.startsWith('grafana/')).sort(),
  );
});

describe('the configuration for http_sd', () => {
  interface Job {
    readonly job_name: string;
    readonly kubernetes_sd_configs?: readonly { readonly role: string }[];
    readonly http_sd_configs?: readonly { readonly url: string }[];
  }
  const jobs = (text: string) =>
    (parse(text, { merge: true }) as { readonly scrape_configs: readonly Job[] }).scrape_configs;

  test("scrapes the same targets as the configuration with Kubernetes' discovery", () => {
    const lists: Record<string, string> = { endpointslice: 'services', node: 'nodes', pod: 'pods' };
    const expected = jobs(config).map(({ kubernetes_sd_configs: found, ...job }) => [
      job,
      found?.map(({ role }) => `https://10.96.0.1:443/monitoring/http-sd/${lists[role]}`),
    ]);
    const made = jobs(withHttpDiscovery(config)).map(({ http_sd_configs: found, ...job }) => [
      job,
      found?.map(({ url }) => url),
    ]);
    assert.deepEqual(made, expected);
    assert.ok(made.length > 8);
  });

  test('is not generated for a discovery role for which the API server has no list', () => {
    assert.throws(
      () => withHttpDiscovery(config.replace('role: pod', 'role: ingress')),
      /no list .* ingress/,
    );
    const other = config.replace('- role: node', '- {role: node}');
    assert.throws(() => withHttpDiscovery(other), /cannot be read: kubernetes_sd_configs/);
  });
});

describe('a board', () => {
  const stat: Panel = { title: 'a', unit: 'none', as: 'stat', queries: [{ expr: 'up', legend: 'x' }] };
  const lines: Panel = { title: 'b', unit: 's', queries: [{ expr: 'up', legend: '{{job}}' }] };
  const laidOut = (...panels: Panel[]) => {
    const board = { uid: 'u', title: 't', variables: [], sections: [{ title: 's', panels }] };
    return grafanaBoard(board).panels as readonly { readonly id: number; readonly gridPos: object }[];
  };

  test('has its panels from the left to the right, without overlaps', () => {
    assert.deepEqual(
      laidOut(stat, stat, stat, stat, lines, lines, lines).map(({ gridPos }) => Object.values(gridPos)),
      [
        [0, 0, 24, 1],
        ...[0, 6, 12, 18].map((x) => [x, 1, 6, 4]),
        ...[0, 12].map((x) => [x, 5, 12, 8]),
        [0, 13, 12, 8],
      ],
    );
  });

  test('has the fields that Grafana needs for a number, a table and lines', () => {
    const [, number, table, over] = laidOut(stat, { ...stat, as: 'table' }, lines) as object[];
    const target = { refId: 'A', datasource: { type: 'prometheus', uid: '$datasource' }, expr: 'up' };
    for (const [panel, type, targets] of [
      [number, 'stat', [{ ...target, legendFormat: 'x', instant: true }]],
      [table, 'table', [{ ...target, legendFormat: 'x', instant: true, format: 'table' }]],
      [over, 'timeseries', [{ ...target, legendFormat: '{{job}}' }]],
    ] as const) {
      const { type: told, targets: asked } = panel as { readonly type: string; readonly targets: object };
      assert.deepEqual([told, asked], [type, targets]);
    }
  });

  test('of the shipped ones uses in its queries only variables that it defines', () => {
    for (const { title, variables, sections } of boards) {
      const known = ['__rate_interval', ...variables.map(({ name }) => name)];
      const asked = sections.flatMap(({ panels }) =>
        panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)),
      );
      for (const expr of asked)
        for (const [, name = ''] of expr.matchAll(/\$(\w+)/g))
          assert.ok(known.includes(name), `${title}: ${expr}`);
    }
  });
});
