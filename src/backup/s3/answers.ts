/** Answers of S3 in XML. */
import { Parser } from 'htmlparser2';

interface Element {
  readonly name: string;
  text: string;
  readonly children: Element[];
  /** False for an element that the end of the text has cut. */
  isWhole: boolean;
}

/** Maximum depth of an answer; S3's have four. The parser's time grows with the square of the depth. */
const maxDepth = 16;

class TooDeepError extends Error {}

/** Parses XML without namespaces; text that is no XML becomes an element without children. */
function parseXml(text: string): Element {
  const root: Element = { name: '', text: '', children: [], isWhole: true };
  const open = [root];
  const parser = new Parser(
    {
      onopentagname(name) {
        const element: Element = { name, text: '', children: [], isWhole: false };
        open.at(-1)?.children.push(element);
        if (open.push(element) > maxDepth) throw new TooDeepError();
      },
      ontext(part) {
        const element = open.at(-1);
        if (element) element.text += part;
      },
      onclosetag(_, isImplied) {
        const element = open.length > 1 ? open.pop() : undefined;
        if (element) element.isWhole = !isImplied;
      },
    },
    { xmlMode: true },
  );
  try {
    parser.end(text);
  } catch (error) {
    if (!(error instanceof TooDeepError)) throw error;
    root.children.length = 0;
  }
  return root;
}

const childOf = (element: Element | undefined, name: string) =>
  element?.children.find((child) => child.name === name);

const textOf = (element: Element | undefined, name: string): string | undefined =>
  childOf(element, name)?.text;

export interface ErrorAnswer {
  /** Code such as NoSuchBucket. */
  readonly code: string;
  /** Region or endpoint that the server names instead. */
  readonly region: string | undefined;
  readonly endpoint: string | undefined;
}

/** Reads an error; undefined if the text is none. Only plain words are taken from it. */
export function errorIn(text: string): ErrorAnswer | undefined {
  const error = childOf(parseXml(text), 'Error');
  const word = (name: string) => {
    const value = textOf(error, name)?.trim();
    return value !== undefined && /^[A-Za-z0-9.:-]{1,255}$/.test(value) ? value : undefined;
  };
  const code = word('Code');
  return code === undefined ? undefined : { code, region: word('Region'), endpoint: word('Endpoint') };
}

export interface ListedObject {
  readonly key: string;
  /** Size in bytes. */
  readonly size: number;
}

export interface ListPage {
  readonly objects: readonly ListedObject[];
  /** Token of the next page; undefined after the last one. */
  readonly next: string | undefined;
}

/** Reads a page of ListObjectsV2; undefined if the text is none. */
export function listPageIn(text: string): ListPage | undefined {
  const page = childOf(parseXml(text), 'ListBucketResult');
  // A page that is cut would end the list too early.
  if (!page?.isWhole) return undefined;
  const contents = page.children.filter(({ name }) => name === 'Contents');
  if (!contents.every((each) => /^\d{1,15}$/.test(textOf(each, 'Size') ?? ''))) return undefined;
  const objects = contents.map((each) => ({
    key: textOf(each, 'Key') ?? '',
    size: Number(textOf(each, 'Size')),
  }));
  const isCut = textOf(page, 'IsTruncated') === 'true';
  const next = textOf(page, 'NextContinuationToken');
  // A page that says that there are more, but not where, would end the list too early.
  if (isCut && !next) return undefined;
  return { objects, next: isCut ? next : undefined };
}

/** Reads the id of a multipart upload that was begun. */
export const uploadIdIn = (text: string): string | undefined =>
  textOf(childOf(parseXml(text), 'InitiateMultipartUploadResult'), 'UploadId') || undefined;

/** Returns whether a multipart upload was completed: an answer with status 200 may be an error. */
export const isCompletion = (text: string): boolean =>
  childOf(parseXml(text), 'CompleteMultipartUploadResult') !== undefined;

/** Returns the body that completes a multipart upload: the entity tags of its parts in their order. */
export function completionOf(tags: readonly string[]): string {
  const parts = tags.map(
    (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`;
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
