/** The way of requests through the cluster, with the health of each part. */

import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { rateText } from '../../charts/plan/amount-text.ts';
import { serviceTraffic } from '../../charts/sampler.ts';
import { seen } from '../../cluster/seen.ts';
import { curve, middleOf } from '../../graph/plan/curve.ts';
import { layered } from '../../graph/plan/layered.ts';
import { objectHref } from '../../shell/plan/addresses.ts';
import { namespace } from '../../shell/scope.ts';
import { ScopeChoice } from '../../shell/scope-choice.tsx';
import { isNarrow } from '../../shell/screen.ts';
import { scrollable } from '../../shell/scrollable.ts';
import type { Page } from '../page.ts';
import type { TopologyNode } from './plan/graph-parts.ts';
import { related } from './plan/related.ts';
import { gatewaysKey, grpcRoutesKey, httpRoutesKey, ingressesKey } from './plan/routes.ts';
import { type Topology, topologyOf } from './plan/topology.ts';
import { edgeWidth } from './plan/traffic.ts';

/** Sizes of boxes and gaps in pixels, on a wide screen and on a narrow one. */
const wide = { boxWidth: 196, boxHeight: 54, gaps: { between: 12, layers: 92 } };
/** Five columns fit beside the navigation on a screen of 1280 pixels. */
const wideWithGateways = { boxWidth: 164, boxHeight: 54, gaps: { between: 12, layers: 42 } };
const narrow = { boxWidth: 140, boxHeight: 54, gaps: { between: 10, layers: 34 } };
const titles = ['Gateways', 'Routes', 'Services', 'Pods', 'Nodes'] as const;
/** Maximum number of boxes; more of them cannot be read. */
const maxBoxes = 240;

function TopologyPage() {
  useEffect(() => {
    document.title = 'Topology · minik8s';
  }, []);
  const scope = { namespace: namespace.value };
  const [ingresses, httpRoutes, grpcRoutes, gateways, services, pods, nodes] = [
    seen(ingressesKey, scope),
    seen(httpRoutesKey, scope),
    seen(grpcRoutesKey, scope),
    // Routes of one namespace may belong to a Gateway of another.
    seen(gatewaysKey),
    seen('services', scope),
    seen('pods', scope),
    seen('nodes'),
  ];
  const traffic = serviceTraffic(scope.namespace).value.items;
  const hasSystem = useSignal(false);
  const graph = useMemo(() => {
    const shown = (one: (typeof services.items)[number]) => hasSystem.value || !isOwn(one);
    return topologyOf({
      ...{ ingresses: ingresses.items, httpRoutes: httpRoutes.items, grpcRoutes: grpcRoutes.items },
      ...{ gateways: gateways.items },
      ...{ services: services.items.filter(shown), pods: pods.items, nodes: nodes.items, traffic },
    });
  }, [
    ...[ingresses.items, httpRoutes.items, grpcRoutes.items, gateways.items],
    ...[services.items, pods.items, nodes.items, hasSystem.value, traffic],
  ]);
  const isSynced = services.synced && pods.synced;
  return (
    <div class="page filled">
      <div class="head">
        <h1>Topology</h1>
        <span class="count" role="status">
          {isSynced ? countText(graph) : 'Loading…'}
        </span>
        <Legend hasTraffic={graph.edges.some(({ perSecond }) => perSecond !== undefined)} />
        <span class="grow" />
        <label class="choice">
          <input
            type="checkbox"
            checked={hasSystem.value}
            onChange={(event) => {
              hasSystem.value = event.currentTarget.checked;
            }}
          />
          The cluster's own Services
        </label>
        <ScopeChoice />
      </div>
      {services.refused && (
        <p class="notice bad">You may not list the Services here. Choose another namespace.</p>
      )}
      {isSynced && graph.nodes.length === 0 && !services.refused && <p class="empty">No Services here.</p>}
      {graph.nodes.length > maxBoxes ? (
        <p class="empty">{graph.nodes.length} boxes are too many for one picture. Choose a namespace.</p>
      ) : (
        graph.nodes.length > 0 && <Picture graph={graph} />
      )}
    </div>
  );
}

/** Returns whether a Service is the API server's or of the namespaces of the cluster itself. */
const isOwn = (service: ReturnType<typeof seen>['items'][number]): boolean => {
  const { name, namespace: of } = service.metadata as { readonly name: string; readonly namespace: string };
  return of.startsWith('kube-') || (of === 'default' && name === 'kubernetes');
};

const countText = ({ nodes }: Topology): string => {
  const bad = nodes.filter(({ health }) => health === 'bad').length;
  const services = nodes.filter(({ column }) => column === 2).length;
  const broken = bad === 1 ? '1 part does not work' : `${bad} parts do not work`;
  return `${services} ${services === 1 ? 'Service' : 'Services'}${bad > 0 ? `, ${broken}` : ''}`;
};

const Legend = ({ hasTraffic }: { readonly hasTraffic: boolean }) => (
  <span class="legend" aria-hidden="true">
    <span class="good">works</span>
    <span class="waiting">partly</span>
    <span class="bad">does not work</span>
    {hasTraffic && <span class="unit">/s: connections per second</span>}
  </span>
);

function Picture({ graph }: { readonly graph: Topology }) {
  // A cluster without Gateways has no column of them.
  const first = graph.nodes.some(({ column }) => column === 0) ? 0 : 1;
  const { boxWidth, boxHeight, gaps } = isNarrow.value ? narrow : first === 0 ? wideWithGateways : wide;
  const active = useSignal('');
  const layout = useMemo(() => {
    const nodes = graph.nodes.map(({ id, column }) => ({
      id,
      layer: column - first,
      breadth: boxHeight,
      depth: boxWidth,
    }));
    return layered(nodes, graph.edges, gaps);
  }, [graph, gaps]);
  const lit = active.value === '' ? undefined : related(graph.edges, active.value);
  const columns = titles.slice(first);
  const width = columns.length * boxWidth + (columns.length - 1) * gaps.layers;
  const left = (column: number) => (column - first) * (boxWidth + gaps.layers);
  return (
    <section class="picture" {...scrollable} aria-label="Topology">
      <div class="picture-titles" style={{ width: `${width}px` }}>
        {columns.map((title, i) => (
          <h2 key={title} style={{ left: `${left(first + i)}px`, width: `${boxWidth}px` }}>
            {title}
          </h2>
        ))}
      </div>
      <div class="picture-place" style={{ width: `${width}px`, height: `${layout.breadth}px` }}>
        <svg width={width} height={layout.breadth} aria-hidden="true">
          {graph.edges.map(({ from, to, health, perSecond }, i) => {
            const points = (layout.edges[i] ?? []).map(([across, along]) => [along, across] as const);
            const isDim = lit && !(lit.has(from) && lit.has(to));
            return (
              <path
                key={`${from} ${to}`}
                class={`edge ${health}${isDim ? ' dim' : ''}`}
                d={curve(points, 'right')}
                style={perSecond === undefined ? undefined : { strokeWidth: `${edgeWidth(perSecond)}px` }}
              />
            );
          })}
          {graph.edges.map(({ from, to, perSecond }, i) => {
            const place = middleOf(
              (layout.edges[i] ?? []).map(([across, along]) => [along, across] as const),
            );
            const isDim = lit && !(lit.has(from) && lit.has(to));
            return perSecond === undefined || !place || isDim ? null : (
              <text
                key={`${from} ${to}`}
                class="edge-label"
                x={place[0]}
                y={place[1] - 6}
                text-anchor="middle"
              >
                {rateText(perSecond)}
              </text>
            );
          })}
        </svg>
        {graph.nodes.map((node) => (
          <Box
            key={node.id}
            node={node}
            style={{
              left: `${left(node.column)}px`,
              width: `${boxWidth}px`,
              height: `${boxHeight}px`,
              top: `${(layout.nodes.get(node.id)?.center ?? 0) - boxHeight / 2}px`,
            }}
            isDim={lit !== undefined && !lit.has(node.id)}
            activate={(isActive) => {
              active.value = isActive ? node.id : '';
            }}
          />
        ))}
      </div>
    </section>
  );
}

interface BoxProps {
  readonly node: TopologyNode;
  readonly style: Record<string, string>;
  readonly isDim: boolean;
  readonly activate: (isActive: boolean) => void;
}

const Box = ({ node, style, isDim, activate }: BoxProps) => (
  <a
    class={`graph-box ${node.health}${isDim ? ' dim' : ''}`}
    href={objectHref(node.kind, node.namespace, node.name)}
    style={style}
    title={node.namespace === '' ? node.name : `${node.name} in ${node.namespace}`}
    onMouseEnter={() => activate(true)}
    onMouseLeave={() => activate(false)}
    onFocus={() => activate(true)}
    onBlur={() => activate(false)}
  >
    <span class="box-title">{node.title}</span>
    <span class="box-detail">
      {node.detail || node.namespace}
      {node.pods && node.pods.length <= 12 && (
        <span class="pod-dots" aria-hidden="true">
          {node.pods.map((health, i) => (
            <span key={i} class={health} />
          ))}
        </span>
      )}
    </span>
  </a>
);

export const topologyPage: Page = {
  ...{ path: 'topology', title: 'Topology', group: 'Cluster', needs: 'services' },
  icon: 'M5 5h4v4H5zM15 15h4v4h-4zM15 5h4v4h-4zM9 7h6M17 9v6M9 8l6 8',
  component: TopologyPage,
};
