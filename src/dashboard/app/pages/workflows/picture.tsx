/** A workflow as a picture, with the state of a run on it. */

import { useMemo } from 'preact/hooks';
import { isRecord } from '../../../../apimachinery/equality.ts';
import type { Machine } from '../../../../states-language/definition/types.ts';
import { curve } from '../../graph/plan/curve.ts';
import { scrollable } from '../../shell/scrollable.ts';
import type { RunState } from './plan/run-states.ts';
import {
  type StateArrow,
  type StateBox,
  type WorkflowLayout,
  workflowLayout,
} from './plan/workflow-layout.ts';

interface Props {
  readonly definition: unknown;
  readonly states?: ReadonlyMap<string, RunState>;
  readonly chosen?: string;
  readonly choose?: (state: string) => void;
}

const margin = 12;
/** Maximum number of characters of a label. */
const maxLabel = 32;
/** Width in pixels of a letter of a label, rounded up. */
const letterWidth = 6.8;

export function WorkflowPicture({ definition, states, chosen, choose }: Props) {
  const layout = useMemo(() => layoutOf(definition), [definition]);
  if (!layout) return <p class="empty">The definition cannot be drawn.</p>;
  const place = (value: number) => `${value + margin}px`;
  return (
    <section class="picture workflow" {...scrollable} aria-label="States of the workflow">
      <div
        class="picture-place"
        style={{ width: `${layout.width + 2 * margin}px`, height: `${layout.height + 2 * margin}px` }}
      >
        {layout.boxes
          .filter(({ isFrame }) => isFrame)
          .map((box) => (
            <State
              key={box.id}
              box={box}
              place={place}
              state={states?.get(box.name)}
              {...{ chosen, choose }}
            />
          ))}
        <Arrows layout={layout} />
        {layout.boxes
          .filter(({ isFrame }) => !isFrame)
          .map((box) => (
            <State
              key={box.id}
              box={box}
              place={place}
              state={states?.get(box.name)}
              {...{ chosen, choose }}
            />
          ))}
      </div>
    </section>
  );
}

function layoutOf(definition: unknown): WorkflowLayout | undefined {
  if (!isRecord(definition)) return undefined;
  try {
    return workflowLayout(definition as unknown as Machine);
  } catch {
    // The server checks definitions; one that this app cannot lay out is not drawn.
    return undefined;
  }
}

const Arrows = ({ layout: { arrows, width, height } }: { readonly layout: WorkflowLayout }) => (
  <svg width={width + 2 * margin} height={height + 2 * margin} aria-hidden="true">
    <defs>
      <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
        <path d="M0 0L8 4L0 8z" class="arrow-head" />
      </marker>
    </defs>
    <g transform={`translate(${margin} ${margin})`}>
      {arrows.map(({ points, label }, i) => {
        const [x, y] = middleOf(points);
        const isLeftwards = (points.at(-1)?.[0] ?? 0) < (points[0]?.[0] ?? 0);
        return (
          <g key={i}>
            <path class="edge" marker-end="url(#arrow)" d={curve(points, 'down')} />
            {label !== '' && (
              <text
                class="edge-label"
                x={
                  isLeftwards
                    ? Math.max(x - 6, letterWidth * Math.min(label.length, maxLabel) - margin)
                    : x + 6
                }
                y={y + 4}
                text-anchor={isLeftwards ? 'end' : 'start'}
              >
                {label.length > maxLabel ? `${label.slice(0, maxLabel - 1)}…` : label}
              </text>
            )}
          </g>
        );
      })}
    </g>
  </svg>
);

/** Returns the middle of the first part of an arrow that is not straight, or of its first part. */
function middleOf(points: StateArrow['points']): readonly [number, number] {
  const from = Math.max(
    0,
    points.findIndex(([x], i) => x !== points[i + 1]?.[0]),
  );
  const [[ax, ay] = [0, 0], [bx, by] = [ax, ay]] = points.slice(from, from + 2);
  return [(ax + bx) / 2, (ay + by) / 2];
}

const healths = { running: 'waiting', succeeded: 'good', failed: 'bad', caught: 'waiting' } as const;

interface StateProps {
  readonly box: StateBox;
  readonly place: (value: number) => string;
  readonly state: RunState | undefined;
  readonly chosen?: string | undefined;
  readonly choose?: ((state: string) => void) | undefined;
}

function State({ box, place, state, chosen, choose }: StateProps) {
  const health = state ? healths[state.outcome] : 'neutral';
  const classes = ['state-box', health, box.isFrame && 'is-frame', state?.outcome, box.ends && 'ends'];
  const detail = state ? stateText(state) : box.type;
  return (
    <button
      type="button"
      class={classes.filter(Boolean).join(' ')}
      style={{ left: place(box.x), top: place(box.y), width: `${box.width}px`, height: `${box.height}px` }}
      aria-pressed={chosen === undefined ? undefined : chosen === box.name}
      disabled={!choose}
      onClick={() => choose?.(box.name)}
    >
      <span class="box-title">
        {box.isStart && <span aria-hidden="true">▸ </span>}
        {box.name}
      </span>
      <span class="box-detail">{detail}</span>
    </button>
  );
}

function stateText({ outcome, entered, retries }: RunState): string {
  const times = entered > 1 ? ` ×${entered}` : '';
  return `${outcome}${times}${retries > 0 ? `, ${retries} retries` : ''}`;
}
