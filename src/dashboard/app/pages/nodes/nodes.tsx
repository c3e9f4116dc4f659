/** The map of the nodes: how much of each is in use, and by which pods. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { bytesText, percentText, processorsText } from '../../charts/plan/amount-text.ts';
import { nodeMetrics, podMetrics, type Sampled } from '../../charts/sampler.ts';
import { type Seen, seen } from '../../cluster/seen.ts';
import { usePrepared, useSeen } from '../../shell/in-turns.ts';
import { objectHref } from '../../shell/plan/addresses.ts';
import { place, replaceQuery } from '../../shell/router.ts';
import type { Page } from '../page.ts';
import {
  type MappedNode,
  type MappedPod,
  type Measure,
  nodeMap,
  podFacts,
  shareOf,
  weightOf,
} from './plan/node-map.ts';

const texts: Readonly<Record<Measure, (amount: number) => string>> = {
  cpu: processorsText,
  memory: bytesText,
};
const measures = [
  { measure: 'cpu', title: 'Processors' },
  { measure: 'memory', title: 'Memory' },
] as const;

function Nodes() {
  useEffect(() => {
    document.title = 'Nodes · minik8s';
  }, []);
  const measure: Measure = place.value.query.get('by') === 'memory' ? 'memory' : 'cpu';
  const { nodes, pods, nodeUse, podUse } = readInSteps();
  const prepared = usePrepared(pods.items, podFacts);
  const map = useMemo(
    () =>
      nodeMap(
        { nodes: nodes.items, pods: prepared, nodeMetrics: nodeUse.items, podMetrics: podUse.items },
        measure,
      ),
    [nodes.items, prepared, nodeUse, podUse, measure],
  );
  const lost = map.filter(({ isReady }) => !isReady).length;
  return (
    <div class="page">
      <div class="head">
        <h1>Nodes</h1>
        <span class="count" role="status">
          {nodes.synced ? `${map.length}${lost > 0 ? `, ${lost} not ready` : ''}` : 'Loading…'}
        </span>
        <span class="grow" />
        {measures.map(({ measure: one, title }) => (
          <button
            key={one}
            type="button"
            class="state-filter"
            aria-pressed={one === measure}
            onClick={() => replaceQuery({ by: one === 'cpu' ? '' : one })}
          >
            {title}
          </button>
        ))}
      </div>
      {nodeUse.refused && (
        <p class="notice">
          The usage of nodes is not measured here, or you may not read it: the map shows requests.
        </p>
      )}
      {pods.refused && (
        <p class="faint">You may not list the pods of all namespaces, so the nodes look empty.</p>
      )}
      <div class="node-map">
        {map.map((node) => (
          <NodeBox key={node.name} node={node} measure={measure} />
        ))}
      </div>
    </div>
  );
}

const noPods: Seen = { items: [], synced: false, refused: false };
const noUse: Sampled = { atMs: 0, items: [], refused: false };

/**
 * Reads the nodes first, which are the first view, then the pods, and the usage of pods last: the server
 * answers nothing else while it collects the usage of thousands of pods.
 */
function readInSteps() {
  const nodes = seen('nodes');
  const hasNodes = nodes.synced && !nodes.refused;
  const pods = hasNodes ? seen('pods') : noPods;
  const nodeUse = hasNodes ? nodeMetrics.value : noUse;
  const podUse = pods.synced ? podMetrics.value : noUse;
  return { nodes, pods, nodeUse, podUse };
}

function NodeBox({ node, measure }: { readonly node: MappedNode; readonly measure: Measure }) {
  const { name, isReady, isCordoned, pressures, pods, maxPods } = node;
  const health = !isReady ? 'bad' : shareOf(node, measure) > 0.9 || pressures.length > 0 ? 'waiting' : 'good';
  return (
    <section class={`panel node-box ${isReady ? '' : 'lost'}`} aria-label={name}>
      <header>
        <span class={`dot ${health}`} aria-hidden="true" />
        <h2>
          <a href={objectHref('nodes', '', name)}>{name}</a>
        </h2>
        {!isReady && <span class="chip bad">not ready</span>}
        {isCordoned && <span class="chip waiting">cordoned</span>}
        {pressures.map((pressure) => (
          <span key={pressure} class="chip waiting">
            {pressure}
          </span>
        ))}
        <span class="grow" />
        <span class="faint">
          {pods.length} of {maxPods} pods
        </span>
      </header>
      {measures.map(({ measure: one, title }) => (
        <Meter key={one} node={node} measure={one} title={title} />
      ))}
      <PodBlocks node={node} measure={measure} />
    </section>
  );
}

interface MeterProps {
  readonly node: MappedNode;
  readonly measure: Measure;
  readonly title: string;
}

/** A bar of what is used, with a mark at what the pods request. */
function Meter({ node: { use, requests, allocatable }, measure, title }: MeterProps) {
  const [used, asked, whole] = [use?.[measure], requests[measure], allocatable[measure]];
  const share = (part: number) => `${whole > 0 ? Math.min(100, (part * 100) / whole) : 0}%`;
  const text = texts[measure];
  const level = whole > 0 && (used ?? 0) / whole > 0.9 ? 'full' : '';
  const label = `${title}: ${used === undefined ? 'not measured' : `${text(used)} in use`}, ${text(asked)} requested of ${text(whole)}`;
  return (
    <div class="meter-line" title={label}>
      <span class="faint">{title}</span>
      <div class={`meter ${level}`} role="img" aria-label={label}>
        <span class="used" style={{ width: share(used ?? 0) }} />
        <span class="asked" style={{ left: share(asked) }} />
      </div>
      <span class="faint nowrap">
        {used === undefined ? '–' : percentText(used, whole)}, {percentText(asked, whole)} requested
      </span>
    </div>
  );
}

/** Maximum number of blocks of a node; those of the pods that take most are drawn. */
const maxBlocks = 80;

/** Blocks as large as what the pods take; the smallest ones stay large enough to be clicked. */
function PodBlocks({ node, measure }: { readonly node: MappedNode; readonly measure: Measure }) {
  const whole = Math.max(1, node.allocatable[measure]);
  const place = useRef<HTMLUListElement>(null);
  // With hundreds of nodes, most of them are below the screen.
  const drawn = useSeen(place) ? node.pods.slice(0, maxBlocks) : [];
  return (
    <ul class="pod-blocks" ref={place}>
      {drawn.map((pod) => (
        <PodBlock
          key={`${pod.namespace}/${pod.name}`}
          pod={pod}
          share={weightOf(pod, measure) / whole}
          measure={measure}
          least={node.pods.length > 40 ? 28 : 96}
        />
      ))}
      {node.pods.length > maxBlocks && <li class="faint">and {node.pods.length - maxBlocks} more</li>}
    </ul>
  );
}

interface BlockProps {
  readonly pod: MappedPod;
  readonly share: number;
  readonly measure: Measure;
  /** Minimum width in pixels. */
  readonly least: number;
}

function PodBlock({ pod, share, measure, least }: BlockProps) {
  const { namespace, name, phase, health, use, requests } = pod;
  const text = texts[measure];
  const amounts = `${use ? `${text(use[measure])} in use, ` : ''}${text(requests[measure])} requested`;
  return (
    <li
      style={{
        flexGrow: Math.max(1, Math.round(share * 100)),
        flexBasis: `${Math.max(least, Math.round(share * 260))}px`,
      }}
    >
      <a
        class={`pod-block ${health}`}
        href={objectHref('pods', namespace, name)}
        title={`${name} in ${namespace}: ${phase}, ${amounts}`}
      >
        {name}
      </a>
    </li>
  );
}

export const nodesPage: Page = {
  ...{ path: 'nodes', title: 'Node map', group: 'Cluster', needs: 'nodes' },
  icon: 'M4 4h7v7H4zM13 4h7v4h-7zM13 10h7v10h-7zM4 13h7v7H4z',
  component: Nodes,
};
