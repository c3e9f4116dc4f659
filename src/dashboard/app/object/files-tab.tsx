/** Copies files from and to a container of a pod. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { errorMessage } from '../../../base/log.ts';
import { bytesText } from '../charts/plan/amount-text.ts';
import { type Copying, download, sizeOf, upload } from '../files/copy.ts';
import { pathFault } from '../files/plan/copy-words.ts';
import { ButtonRow } from '../shell/button-row.tsx';
import type { ContainerPlace } from '../terminal/plan/channels.ts';
import { ContainerChoice } from './container-choice.tsx';
import type { TabProps } from './tab.ts';

export function FilesTab({ object }: TabProps) {
  const { name, namespace = '' } = object.metadata;
  return (
    <section aria-label="Files">
      <ContainerChoice object={object}>
        {(container) => <Copies key={container} place={{ namespace, pod: name, container }} />}
      </ContainerChoice>
    </section>
  );
}

type State =
  | { readonly phase: 'idle' }
  | { readonly phase: 'copies'; readonly what: string; readonly bytes: number; readonly whole?: number }
  | { readonly phase: 'done' | 'failed'; readonly text: string };

type Start = (what: string, whole: number | undefined, work: (copying: Copying) => Promise<string>) => void;

function Copies({ place }: { readonly place: ContainerPlace }) {
  const state = useSignal<State>({ phase: 'idle' });
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const start: Start = (what, whole, work) => {
    const own = new AbortController();
    abort.current = own;
    const report = (bytes: number) => {
      if (!own.signal.aborted)
        state.value = { phase: 'copies', what, bytes, ...(whole !== undefined && { whole }) };
    };
    report(0);
    work({ place, signal: own.signal, onBytes: report }).then(
      (text) => {
        state.value = { phase: 'done', text };
      },
      (error) => {
        const reason = own.signal.aborted
          ? 'cancelled; a file in the container may be incomplete'
          : undefined;
        state.value = { phase: 'failed', text: `${what}: ${reason ?? errorMessage(error)}` };
      },
    );
  };
  const isBusy = state.value.phase === 'copies';
  return (
    <div class="copies">
      <div class="sides">
        <Download start={start} isBusy={isBusy} />
        <Upload start={start} isBusy={isBusy} />
      </div>
      <Progress state={state.value} cancel={() => abort.current?.abort()} />
    </div>
  );
}

interface FormProps {
  readonly start: Start;
  readonly isBusy: boolean;
}

function Download({ start, isBusy }: FormProps) {
  const path = useSignal('');
  const fault = useSignal('');
  const submit = () => {
    fault.value = pathFault(path.value) ?? '';
    if (fault.value !== '') return;
    const wanted = path.value;
    start(`Download of ${wanted}`, undefined, async (copying) => {
      const { name, content } = await download(copying, wanted);
      save(name, content);
      return `${name} is downloaded: ${bytesText(content.size)}.`;
    });
  };
  return (
    <form
      class="panel"
      aria-label="Download"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>Download</h2>
      <PathField label="File or directory in the container" signal={path} fault={fault.value} />
      <p class="faint">A directory is downloaded as a tar archive.</p>
      <ButtonRow>
        <button type="submit" class="primary" disabled={isBusy}>
          Download
        </button>
      </ButtonRow>
    </form>
  );
}

function Upload({ start, isBusy }: FormProps) {
  const directory = useSignal('/tmp');
  const fault = useSignal('');
  const files = useSignal<readonly File[]>([]);
  const submit = () => {
    const chosen = files.value;
    fault.value = pathFault(directory.value) ?? (chosen.length === 0 ? 'Choose at least one file.' : '');
    if (fault.value !== '') return;
    const [target, names] = [directory.value, chosen.map(({ name }) => name).join(', ')];
    start(`Upload of ${names}`, sizeOf(chosen), async (copying) => {
      await upload(copying, target, chosen);
      return `${names} ${chosen.length === 1 ? 'is' : 'are'} in ${target}.`;
    });
  };
  return (
    <form
      class="panel"
      aria-label="Upload"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>Upload</h2>
      <label class="stacked">
        Files of this machine
        <input
          type="file"
          multiple
          onChange={(event) => {
            files.value = [...(event.currentTarget.files ?? [])];
          }}
        />
      </label>
      <PathField label="Directory in the container" signal={directory} fault={fault.value} />
      <p class="faint">Files of the same name in the directory are replaced.</p>
      <ButtonRow>
        <button type="submit" class="primary" disabled={isBusy}>
          Upload
        </button>
      </ButtonRow>
    </form>
  );
}

interface PathProps {
  readonly label: string;
  readonly signal: { value: string };
  readonly fault: string;
}

const PathField = ({ label, signal, fault }: PathProps) => (
  <>
    <label class="stacked">
      {label}
      <input
        value={signal.value}
        placeholder="/var/log"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          signal.value = event.currentTarget.value;
        }}
      />
    </label>
    {fault !== '' && (
      <p class="notice bad" role="alert">
        {fault}
      </p>
    )}
  </>
);

function Progress({ state, cancel }: { readonly state: State; readonly cancel: () => void }) {
  if (state.phase === 'idle') return null;
  if (state.phase === 'copies') {
    const { what, bytes, whole } = state;
    const share = whole === undefined ? '' : ` of ${bytesText(whole)}`;
    return (
      <section class="panel" aria-label="Progress">
        <p role="status">
          {what}: {bytesText(bytes)}
          {share}
        </p>
        <ButtonRow>
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        </ButtonRow>
      </section>
    );
  }
  return (
    <p
      class={state.phase === 'failed' ? 'notice bad' : 'notice good'}
      role={state.phase === 'failed' ? 'alert' : 'status'}
    >
      {state.text}
    </p>
  );
}

/** Time after which the address of a file that the browser stores is released. */
const releaseMs = 60_000;

/** Lets the browser store a file. */
function save(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), releaseMs);
}
