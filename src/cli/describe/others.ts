/** Priority classes and certificate signing requests. Pure. */
import { humanDuration } from '../../apimachinery/age.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { errorMessage } from '../../base/log.ts';
import { type RequestParts, readRequest } from '../../formats/request-content.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../objects/objects.ts';
import type { Describer } from './describer.ts';
import { createdLine, optionalLine, pairsText, shownAt } from './lines.ts';

export const priorityClass: Describer = {
  lines: (object) => [
    `Name:\t${metadataOf(object).name}`,
    `Value:\t${shownAt(object, 'value')}`,
    `GlobalDefault:\t${object.globalDefault === true}`,
    `PreemptionPolicy:\t${textAt(object, 'preemptionPolicy')}`,
    `Description:\t${textAt(object, 'description')}`,
    `Annotations:\t${pairsText(recordAt(object, 'metadata', 'annotations'))}`,
  ],
};

export const certificateSigningRequest: Describer = {
  lines(object) {
    const seconds = Number(shownAt(object, 'spec', 'expirationSeconds'));
    return [
      `Name:\t${metadataOf(object).name}`,
      `Labels:\t${pairsText(recordAt(object, 'metadata', 'labels'))}`,
      `Annotations:\t${pairsText(recordAt(object, 'metadata', 'annotations'))}`,
      createdLine(object),
      `Requesting User:\t${textAt(object, 'spec', 'username')}`,
      ...optionalLine('Signer', textAt(object, 'spec', 'signerName')),
      ...(seconds > 0 ? [`Requested Duration:\t${humanDuration(seconds * 1000)}`] : []),
      `Status:\t${requestStatus(object)}`,
      ...requestLines(textAt(object, 'spec', 'request')),
    ];
  },
};

function requestStatus(object: JsonObject): string {
  const types = recordsAt(object, 'status', 'conditions').map(({ type }) => type);
  const decided = types.includes('Denied') ? 'Denied' : types.includes('Approved') ? 'Approved' : 'Pending';
  const failed = types.includes('Failed') ? ',Failed' : '';
  return `${decided}${failed}${textAt(object, 'status', 'certificate') ? ',Issued' : ''}`;
}

function requestLines(request: string): string[] {
  try {
    return contentLines(readRequest(derOf(request)).content);
  } catch (error) {
    // Anyone may have written the request: the rest of the object is described all the same.
    return [`Subject:\t<cannot be read: ${errorMessage(error)}>`];
  }
}

function derOf(request: string): Buffer {
  const pem = Buffer.from(request, 'base64').toString('latin1');
  const body = /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([^-]*)-----END /.exec(pem)?.[1];
  if (body === undefined) throw new Error('no block CERTIFICATE REQUEST in PEM');
  return Buffer.from(body, 'base64');
}

function contentLines(content: RequestParts['content']): string[] {
  const names = [
    ...manyLines('DNS Names', content.dnsNames),
    ...manyLines('Email Addresses', content.emailAddresses),
    ...manyLines('URIs', content.uris),
    ...manyLines('IP Addresses', content.ipAddresses),
  ];
  return [
    'Subject:',
    `\tCommon Name:\t${content.commonName}`,
    '\tSerial Number:\t',
    ...manyLines('Organization', content.organizations),
    ...(names.length > 0 ? ['Subject Alternative Names:', ...names] : []),
  ];
}

const manyLines = (title: string, values: readonly string[]): string[] =>
  values.map((value, index) => (index === 0 ? `\t${title}:\t${value}` : `\t\t${value}`));
