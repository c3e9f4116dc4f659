/** Dashboards as data, and as the JSON that Grafana reads (schema 39). Pure. */

/** Formats of numbers, a selection of Grafana's. */
export type Unit = 'Bps' | 'bytes' | 'none' | 'ops' | 'percentunit' | 'pps' | 's' | 'short';

export interface Query {
  /** PromQL, with the board's variables as `$name` and Grafana's `$__rate_interval`. */
  readonly expr: string;
  /** Name of a line: `{{label}}` is the value of a label. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  readonly unit: Unit;
  /** A single number, or the present values as a table; lines over time if absent. */
  readonly as?: 'stat' | 'table';
  readonly queries: readonly Query[];
}

export interface Section {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Variable {
  readonly name: string;
  /** The variable's values are those of a label of a series: `label_values(series, label)`. */
  readonly series: string;
  readonly label: string;
  /** True if several values can be chosen; all are chosen at first, and series match the variable by `=~`. */
  readonly several?: boolean;
}

export interface Board {
  /** The file's name without `.json`, which is also the board's address in Grafana. */
  readonly uid: string;
  readonly title: string;
  readonly variables: readonly Variable[];
  readonly sections: readonly Section[];
}

const datasource = { type: 'prometheus', uid: '$datasource' };
/** Widths in Grafana's 24 columns. */
const width = { stat: 6, table: 24, timeseries: 12 } as const;
const height = { stat: 4, table: 8, timeseries: 8 } as const;

export const grafanaBoard = ({ uid, title, variables, sections }: Board) => ({
  uid,
  title,
  tags: ['minik8s'],
  schemaVersion: 39,
  editable: true,
  timezone: 'browser',
  refresh: '30s',
  time: { from: 'now-1h', to: 'now' },
  links: [{ type: 'dashboards', tags: ['minik8s'], title: 'minik8s', asDropdown: true, keepTime: true }],
  templating: {
    list: [
      { name: 'datasource', type: 'datasource', query: 'prometheus' },
      ...variables.map(grafanaVariable),
    ],
  },
  panels: laidOut(sections),
});

const grafanaVariable = ({ name, series, label, several = false }: Variable) => ({
  name,
  type: 'query',
  datasource,
  query: { query: `label_values(${series}, ${label})`, refId: name },
  refresh: 2,
  sort: 1,
  multi: several,
  includeAll: several,
  ...(several && { current: { text: 'All', value: '$__all' } }),
});

/** Places the panels from left to right, in rows with the height of their panels. */
function laidOut(sections: readonly Section[]): readonly object[] {
  const panels: object[] = [];
  let [x, y, rowHeight] = [0, 0, 0];
  const nextRow = () => {
    [x, y, rowHeight] = [0, y + rowHeight, 0];
  };
  for (const section of sections) {
    nextRow();
    panels.push({ id: panels.length + 1, type: 'row', title: section.title, gridPos: { x, y, w: 24, h: 1 } });
    y++;
    for (const panel of section.panels) {
      const type = panel.as ?? 'timeseries';
      const [w, h] = [width[type], height[type]];
      if (x + w > 24) nextRow();
      panels.push({ id: panels.length + 1, ...grafanaPanel(panel, type), gridPos: { x, y, w, h } });
      x += w;
      rowHeight = Math.max(rowHeight, h);
    }
  }
  return panels;
}

const grafanaPanel = ({ title, unit, queries }: Panel, type: keyof typeof width) => ({
  type,
  title,
  datasource,
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  targets: queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + index),
    datasource,
    expr,
    legendFormat: legend,
    ...(type !== 'timeseries' && { instant: true }),
    ...(type === 'table' && { format: 'table' }),
  })),
  ...(type === 'timeseries' && { options: { legend: { displayMode: 'list', placement: 'bottom' } } }),
});
