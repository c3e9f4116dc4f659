/** The first cause that `ctl why` names for an object. */

export interface FirstCause {
  readonly rule: string;
  readonly says: string;
  /** Commands that mend the object, without the words `minik8s ctl`. */
  readonly commands: readonly string[];
}

interface Answer {
  readonly problems: readonly {
    readonly chain: readonly {
      readonly rule: string;
      readonly says: string;
      readonly mend: readonly { readonly command?: string }[];
    }[];
  }[];
}

/** Runs `ctl why` with the given function; resolves to undefined for an object in its desired state. */
export async function firstCause(
  ctl: (...args: string[]) => Promise<string>,
  object: string,
): Promise<FirstCause | undefined> {
  const { problems } = JSON.parse(await ctl('why', object, '-o', 'json')) as Answer;
  const last = problems[0]?.chain.at(-1);
  if (!last) return undefined;
  const commands = last.mend.flatMap(({ command = '' }) =>
    command.startsWith('minik8s ctl ') ? [command.slice('minik8s ctl '.length)] : [],
  );
  return { rule: last.rule, says: last.says, commands };
}
