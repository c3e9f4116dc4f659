/** A terminal in a container, by xterm.js over the channels of exec. */

import { useSignal } from '@preact/signals';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal as Screen } from '@xterm/xterm';
import { useEffect, useRef } from 'preact/hooks';
import { openStream } from '../cluster/request.ts';
import { theme } from '../shell/theme.ts';
import { channels, endInWords, execPath, message, partsOf, resizeMessage } from './plan/channels.ts';
import { styleByObjects } from './styles-by-objects.ts';

interface Props {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export function Terminal({ namespace, pod, container }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const ended = useSignal('');
  const attempt = useSignal(0);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    ended.value = '';
    return openTerminal(element, { namespace, pod, container }, (text) => {
      ended.value = text;
    });
  }, [namespace, pod, container, attempt.value]);
  return (
    <div class="terminal">
      {ended.value !== '' && (
        <p class="notice" role="alert">
          {ended}{' '}
          <button
            type="button"
            onClick={() => {
              attempt.value++;
            }}
          >
            Open again
          </button>
        </p>
      )}
      <div ref={place} class="terminal-screen" />
    </div>
  );
}

/** Opens a terminal in an element; the returned function ends it. */
function openTerminal(element: HTMLElement, target: Props, onEnd: (text: string) => void): () => void {
  styleByObjects();
  const screen = new Screen({
    ...{ cursorBlink: true, fontSize: 13, scrollback: 5000, theme: colors() },
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
  });
  const fit = new FitAddon();
  screen.loadAddon(fit);
  screen.open(element);
  fit.fit();
  const stream = openStream(execPath(target));
  let failure = '';
  stream.addEventListener('open', () => {
    stream.send(resizeMessage(screen.cols, screen.rows));
    screen.focus();
  });
  stream.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
    const parts = partsOf(new Uint8Array(data));
    if (parts?.channel === channels.stdout || parts?.channel === channels.stderr) screen.write(parts.data);
    if (parts?.channel === channels.error) failure = new TextDecoder().decode(parts.data);
  });
  stream.addEventListener('close', ({ code, reason }) => {
    const lost = code === 1000 ? '' : reason || `The connection has ended (${code}).`;
    onEnd(endInWords(failure || lost));
  });
  const isOpen = () => stream.readyState === WebSocket.OPEN;
  screen.onData((text) => isOpen() && stream.send(message(channels.stdin, text)));
  screen.onResize(({ cols, rows }) => isOpen() && stream.send(resizeMessage(cols, rows)));
  const stopRepainting = onNewColors(() => {
    screen.options.theme = colors();
  });
  const resized = new ResizeObserver(() => fit.fit());
  resized.observe(element);
  return () => {
    stopRepainting();
    resized.disconnect();
    stream.close();
    screen.dispose();
  };
}

/** Calls a function after each change of the colors: by the user, or of the system. Returns a way to stop. */
function onNewColors(repaint: () => void): () => void {
  const preference = matchMedia('(prefers-color-scheme: dark)');
  preference.addEventListener('change', repaint);
  // The colors of the document change in the same turn as the choice.
  const unsubscribe = theme.subscribe(() => queueMicrotask(repaint));
  return () => {
    preference.removeEventListener('change', repaint);
    unsubscribe();
  };
}

function colors() {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  return {
    background: color('--panel'),
    foreground: color('--text'),
    cursor: color('--accent'),
    cursorAccent: color('--panel'),
    selectionBackground: color('--line-strong'),
  };
}
