/** The editor as a component; its code is loaded when it is first shown. */
import { useEffect, useRef } from 'preact/hooks';
import type { Editor, EditorOptions, Fault } from './editor.ts';

interface Props extends EditorOptions {
  /**
   * Number that changes when `text` has to replace the text in the editor. A change of `text` alone does not
   * show that, because `text` also follows what the user types.
   */
  readonly revision: number;
  readonly faults: readonly Fault[];
}

export function CodeField(props: Props) {
  const { text, revision, isReadOnly, faults, label } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    let isGone = false;
    void import('./editor.ts').then(({ createEditor }) => {
      const root = host.current?.shadowRoot ?? host.current?.attachShadow({ mode: 'open' });
      if (isGone || !root) return;
      editor.current = createEditor(root, {
        label,
        text: latest.current.text,
        isReadOnly,
        onChange: (changed) => latest.current.onChange(changed),
        suggest: (written, offset) => latest.current.suggest(written, offset),
      });
      editor.current.setFaults(latest.current.faults);
    });
    return () => {
      isGone = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, [isReadOnly, label]);
  useEffect(() => editor.current?.setText(text), [revision]);
  useEffect(() => editor.current?.setFaults(faults), [faults]);
  return <div ref={host} class="code-field" />;
}
