/** The charts of the overview: processors, memory, pods, requests and nodes. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { bytesText, percentText, processorsText, rateText } from '../../charts/plan/amount-text.ts';
import { emptySeries, type Series, withSample } from '../../charts/plan/series.ts';
import { TimeChart } from '../../charts/time-chart.tsx';
import { may } from '../../cluster/access.ts';
import { kindsByKey } from '../../cluster/kinds.ts';
import { seen } from '../../cluster/seen.ts';
import { kindHref, pageHref } from '../../shell/plan/addresses.ts';
import { namespace } from '../../shell/scope.ts';
import { now } from '../../shell/screen.ts';
import { nodeCounts, podCounts } from './plan/cluster-use.ts';
import { requests, use } from './series.ts';

export function Charts() {
  const nodes = seen('nodes');
  const counts = nodeCounts(nodes.items);
  const measured = kindsByKey.value.get('nodes.metrics.k8s.io');
  const mayMeasure = measured !== undefined && may('list', measured);
  return (
    <div class="chart-strip">
      {mayMeasure && !use.value.refused && (
        <>
          <ProcessorChart of={nodes.refused ? 0 : counts.allocatable.cpu} />
          <MemoryChart of={nodes.refused ? 0 : counts.allocatable.memory} />
        </>
      )}
      <PodChart />
      {!requests.value.refused && <RequestChart />}
      {!nodes.refused && <NodeTile {...counts} synced={nodes.synced} />}
    </div>
  );
}

interface TileProps {
  readonly title: string;
  readonly href?: string;
  readonly value: string;
  readonly detail: ComponentChildren;
  readonly children?: ComponentChildren;
}

const Tile = ({ title, href, value, detail, children }: TileProps) => (
  <section class="panel chart-tile" aria-label={title}>
    <h2>{href === undefined ? title : <a href={href}>{title}</a>}</h2>
    <p class="chart-value">
      {value} <span class="faint">{detail}</span>
    </p>
    {children}
  </section>
);

const lineOf = ({ times, lines }: Series, line: number): Series => ({ times, lines: [lines[line] ?? []] });
const lastOf = ({ lines: [line = []] }: Series): number | undefined => line.at(-1) ?? undefined;

function ProcessorChart({ of }: { readonly of: number }) {
  const series = lineOf(use.value.series, 0);
  const last = lastOf(series);
  return (
    <Tile
      title="Processors"
      href={pageHref('nodes')}
      value={last === undefined ? '–' : processorsText(last)}
      detail={of > 0 && last !== undefined && `of ${processorsText(of)}, ${percentText(last, of)}`}
    >
      <TimeChart
        label="Processors in use"
        series={series}
        lines={[{ title: 'in use', color: '--accent' }]}
        text={processorsText}
        max={of > 0 ? of : undefined}
      />
    </Tile>
  );
}

function MemoryChart({ of }: { readonly of: number }) {
  const series = lineOf(use.value.series, 1);
  const last = lastOf(series);
  return (
    <Tile
      title="Memory"
      href={pageHref('nodes', { by: 'memory' })}
      value={last === undefined ? '–' : bytesText(last)}
      detail={of > 0 && last !== undefined && `of ${bytesText(of)}, ${percentText(last, of)}`}
    >
      <TimeChart
        label="Memory in use"
        series={series}
        lines={[{ title: 'in use', color: '--chart-memory' }]}
        text={bytesText}
        max={of > 0 ? of : undefined}
      />
    </Tile>
  );
}

const podLines = [
  { title: 'ready', color: '--good' },
  { title: 'not ready', color: '--bad' },
];
const keptMs = 15 * 60_000;

function PodChart() {
  const { items, synced, refused } = seen('pods', { namespace: namespace.value });
  const counts = podCounts(items);
  const notReady = counts.waiting + counts.bad;
  const [series, setSeries] = useState(emptySeries(2));
  const at = now.value;
  useEffect(() => {
    if (synced) setSeries((before) => withSample(before, at, [counts.good, notReady], keptMs));
  }, [at, counts.good, notReady, synced]);
  useEffect(() => setSeries(emptySeries(2)), [namespace.value]);
  if (refused) return null;
  return (
    <Tile
      title="Pods"
      href={kindHref('pods')}
      value={synced ? String(counts.good) : '–'}
      detail={synced && podText(counts.good, notReady)}
    >
      <TimeChart label="Pods" series={series} lines={podLines} text={String} />
    </Tile>
  );
}

const podText = (ready: number, notReady: number) =>
  notReady === 0 ? (
    'ready'
  ) : (
    <>
      of {ready + notReady} ready, <span class="bad">{notReady} not</span>
    </>
  );

const requestLines = [
  { title: 'all', color: '--chart-requests' },
  { title: 'failed', color: '--bad' },
];

function RequestChart() {
  const { series } = requests.value;
  const [all, failed] = series.lines.map((line) => line.at(-1));
  return (
    <Tile
      title="Requests"
      value={typeof all === 'number' ? rateText(all) : '–'}
      detail={
        typeof failed === 'number' && failed > 0 ? (
          <span class="bad">{rateText(failed)} failed</span>
        ) : (
          'to this master'
        )
      }
    >
      <TimeChart label="Requests" series={series} lines={requestLines} text={rateText} />
    </Tile>
  );
}

function NodeTile({
  total,
  ready,
  cordoned,
  synced,
}: ReturnType<typeof nodeCounts> & { readonly synced: boolean }) {
  const nodes = seen('nodes').items;
  const lost = total - ready;
  return (
    <Tile
      title="Nodes"
      href={pageHref('nodes')}
      value={synced ? String(ready) : '–'}
      detail={
        lost > 0 ? (
          <>
            of {total} ready, <span class="bad">{lost} not</span>
          </>
        ) : (
          `ready${cordoned > 0 ? `, ${cordoned} cordoned` : ''}`
        )
      }
    >
      <NodeDots nodes={nodes} />
    </Tile>
  );
}

function NodeDots({ nodes }: { readonly nodes: ReturnType<typeof seen>['items'] }) {
  const dots = nodes.slice(0, 60).map((node) => nodeCounts([node]));
  return (
    <div class="node-dots" aria-hidden="true">
      {dots.map(({ ready, cordoned }, i) => (
        <span key={i} class={ready === 0 ? 'bad' : cordoned > 0 ? 'waiting' : 'good'} />
      ))}
    </div>
  );
}
