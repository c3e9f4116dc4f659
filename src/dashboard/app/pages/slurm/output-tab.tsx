/** The output of a SlurmJob while it arrives. */

import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { bytesText } from '../../charts/plan/amount-text.ts';
import { seen } from '../../cluster/seen.ts';
import type { TabProps } from '../../object/tab.ts';
import { scrollable } from '../../shell/scrollable.ts';
import { outputFiles } from './plan/job-output.ts';

/** Maximum number of characters that are shown of a file; its end matters most. */
const maxShown = 200_000;

export function OutputTab({ object }: TabProps) {
  const { namespace = '', uid } = object.metadata;
  const pieces = seen('slurmfiles.minik8s.io', { namespace, fields: `spec.jobUID=${uid},spec.kind!=Result` });
  const files = useMemo(() => outputFiles(pieces.items), [pieces.items]);
  const chosen = useSignal('');
  const file =
    files.find(({ path }) => path === chosen.value) ??
    files.find(({ kind }) => kind === 'Output') ??
    files[0];
  const place = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = place.current;
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [file?.text]);
  if (pieces.refused) return <p class="empty">You may not list the files of jobs here.</p>;
  if (!file) return <p class="empty">{pieces.synced ? 'The job has written nothing yet.' : 'Loading…'}</p>;
  const text = file.text.length > maxShown ? `…${file.text.slice(-maxShown)}` : file.text;
  return (
    <section aria-label="Output">
      <div class="head">
        {files.map(({ path, bytes }) => (
          <button
            key={path}
            type="button"
            class="state-filter"
            aria-pressed={path === file.path}
            onClick={() => {
              chosen.value = path;
            }}
          >
            {path} <span class="faint">{bytesText(bytes)}</span>
          </button>
        ))}
      </div>
      <pre
        ref={place}
        class="panel job-output"
        role="log"
        aria-label={file.path}
        {...scrollable}
        onScroll={({ currentTarget }) => {
          isAtEnd.current =
            currentTarget.scrollTop + currentTarget.clientHeight >= currentTarget.scrollHeight - 24;
        }}
      >
        {text}
      </pre>
    </section>
  );
}
