/** Deletes an object, after a dialog that names what is deleted with it. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { errorMessage } from '../../../base/log.ts';
import { objectPath } from '../../../client/resource-path.ts';
import { may } from '../cluster/access.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { ownedOf } from '../cluster/plan/owner-tree.ts';
import { sendJson } from '../cluster/request.ts';
import { type Survey, survey, surveyed } from '../cluster/survey.ts';
import { DialogEnd, notify, openDialog } from '../shell/dialog.tsx';
import type { ObjectAction } from './action.ts';
import { type DeleteEffects, deleteEffects, effectsText } from './plan/delete-effects.ts';

export const deleteAction: ObjectAction = {
  title: 'Delete',
  words: 'remove',
  isDangerous: true,
  applies: (kind, { metadata }) =>
    kind.verbs.includes('delete') && may('delete', kind, metadata.namespace ?? '', { name: metadata.name }),
  run: (kind, object) =>
    openDialog({
      title: `Delete ${kind.kind} ${object.metadata.name}`,
      content: ({ close }) => <DeleteDialog kind={kind} object={object} close={close} />,
    }),
};

/**
 * Maximum number of names that are listed of the objects that are deleted with it; the others are counted.
 */
const listed = 12;

/** Returns the key of the kind that a CustomResourceDefinition defines: its name. */
const definedKey = (kind: ApiKind, { metadata }: KubeObject) =>
  kind.key === 'customresourcedefinitions.apiextensions.k8s.io' ? metadata.name : undefined;

async function surveyFor(kind: ApiKind, object: KubeObject): Promise<Survey> {
  if (kind.key === 'namespaces') return survey(object.metadata.name);
  const defined = definedKey(kind, object);
  if (defined === undefined) return survey(object.metadata.namespace ?? '');
  return survey(
    '',
    surveyed('').filter(({ key }) => key === defined),
  );
}

interface Props {
  readonly kind: ApiKind;
  readonly object: KubeObject;
  readonly close: () => void;
}

function DeleteDialog({ kind, object, close }: Props) {
  const effects = useSignal<(DeleteEffects & { readonly unread: readonly string[] }) | undefined>(undefined);
  const typed = useSignal('');
  const orphans = useSignal(false);
  const failure = useSignal('');
  const { name, namespace } = object.metadata;
  useEffect(() => {
    void surveyFor(kind, object).then(({ objects, unread }) => {
      const found = deleteEffects(ownedOf(kind.key, object), objects, definedKey(kind, object));
      effects.value = { ...found, unread };
    });
  }, [kind, object]);
  const known = effects.value;
  const remove = async () => {
    try {
      await sendJson('DELETE', objectPath(kind, name, namespace), {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: orphans.value ? 'Orphan' : 'Background',
        preconditions: { uid: object.metadata.uid },
      });
      notify(`${kind.kind} ${name} is deleted.`);
      close();
    } catch (error) {
      failure.value = errorMessage(error);
    }
  };
  return (
    <form
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        void remove();
      }}
    >
      {known === undefined ? (
        <p class="faint pulse">Looking for objects that are deleted with it…</p>
      ) : (
        <Effects {...known} areOrphans={orphans.value} />
      )}
      {known !== undefined && known.gone.length > 0 && !known.needsName && (
        <label class="choice">
          <input
            type="checkbox"
            checked={orphans}
            onChange={(event) => {
              orphans.value = event.currentTarget.checked;
            }}
          />
          Keep them: delete this object alone
        </label>
      )}
      {known?.needsName && (
        <label class="stacked">
          Type <strong>{name}</strong> to continue
          <input
            value={typed}
            autocomplete="off"
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </label>
      )}
      <DialogEnd failure={failure.value} close={close}>
        <button
          type="submit"
          class="danger"
          disabled={known === undefined || (known.needsName && typed.value !== name)}
        >
          Delete
        </button>
      </DialogEnd>
    </form>
  );
}

function Effects({
  gone,
  remarks,
  unread,
  areOrphans,
}: DeleteEffects & { readonly unread: readonly string[]; readonly areOrphans: boolean }) {
  const more = gone.length - listed;
  return (
    <>
      {gone.length === 0 || areOrphans ? (
        <p>Nothing else is deleted.</p>
      ) : (
        <>
          <p>
            These objects are deleted with it: <strong>{effectsText(gone)}</strong>
          </p>
          <ul class="names">
            {gone.slice(0, listed).map(({ kind, metadata }) => (
              <li key={metadata.uid}>
                <span class="faint">{kind}</span> {metadata.name}
              </li>
            ))}
            {more > 0 && <li class="faint">and {more} more</li>}
          </ul>
        </>
      )}
      {remarks.map((remark) => (
        <p key={remark}>{remark}</p>
      ))}
      {unread.length > 0 && (
        <p class="faint">
          You may not list {unread.slice(0, 6).join(', ')}: objects of these kinds may be deleted too.
        </p>
      )}
    </>
  );
}
