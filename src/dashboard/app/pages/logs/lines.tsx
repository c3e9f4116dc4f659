/** The lines of merged logs: only those in view are drawn, and a view at the end stays there. */

import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { scrollable } from '../../shell/scrollable.ts';
import type { LogLine } from './plan/log-lines.ts';
import type { LogSearch } from './plan/log-search.ts';
import type { LogSource } from './plan/log-sources.ts';
import { lineParts, withoutControls } from './plan/terminal-colors.ts';

export interface Look {
  readonly hasTimes: boolean;
  readonly hasNames: boolean;
  readonly isWrapped: boolean;
}

interface Props {
  readonly lines: readonly LogLine[];
  readonly sources: readonly LogSource[];
  readonly search: LogSearch;
  readonly look: Look;
}

const lineHeight = 20;
/** Lines that are drawn beyond the view, and those of a wrapped log, whose heights are unknown. */
const [beyond, wrapped] = [30, 1500];

export function Lines({ lines, look, ...rest }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    const resized = new ResizeObserver(() => {
      height.value = element.clientHeight;
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    });
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = place.current;
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [lines, look]);
  const scrolled = (element: HTMLElement) => {
    isAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - lineHeight;
    top.value = element.scrollTop;
  };
  const from = look.isWrapped
    ? Math.max(0, lines.length - wrapped)
    : Math.max(0, Math.floor(top.value / lineHeight) - beyond);
  const to = look.isWrapped ? lines.length : from + Math.ceil(height.value / lineHeight) + 2 * beyond;
  const shown = lines.slice(from, to);
  return (
    <div
      ref={place}
      class={look.isWrapped ? 'log wrapped' : 'log'}
      role="log"
      aria-label="Log"
      aria-live="off"
      {...scrollable}
      onScroll={(event) => scrolled(event.currentTarget)}
    >
      <div style={look.isWrapped ? {} : { height: `${lines.length * lineHeight}px` }}>
        <div style={look.isWrapped ? {} : { transform: `translateY(${from * lineHeight}px)` }}>
          {shown.map((line, i) => (
            <Line key={from + i} line={line} look={look} {...rest} />
          ))}
        </div>
      </div>
    </div>
  );
}

function Line({ line, sources, search, look }: Omit<Props, 'lines'> & { readonly line: LogLine }) {
  const source = sources[line.source];
  const plain = withoutControls(line.text);
  return (
    <div class="log-line">
      {look.hasTimes && <time>{timeText(line.stamp)}</time>}
      {look.hasNames && source && (
        <span
          class={`log-source source-${line.source % 8}`}
          title={`${source.namespace}/${source.pod}/${source.container}`}
        >
          {shortName(source)}
        </span>
      )}
      <span class="log-text">
        {lineParts(plain, search.spans(plain.text)).map(({ text, style, isFound }, i) =>
          isFound ? (
            <mark key={i} class={style}>
              {text}
            </mark>
          ) : (
            <span key={i} class={style}>
              {text}
            </span>
          ),
        )}
      </span>
    </div>
  );
}

const timeText = (stamp: string): string => {
  const time = new Date(`${stamp.slice(0, 23)}Z`);
  if (Number.isNaN(time.getTime())) return '';
  const [date, clock] = [time.toLocaleDateString('sv'), time.toLocaleTimeString('sv')];
  const isToday = date === new Date().toLocaleDateString('sv');
  return `${isToday ? '' : `${date} `}${clock}.${stamp.slice(20, 23)}`;
};

/** Returns `POD/CONTAINER`; of a long one its end. */
function shortName({ pod, container }: LogSource): string {
  const name = `${pod}/${container}`;
  return name.length > 30 ? `…${name.slice(-29)}` : name;
}
