/** Builds the URL for the reports of a provider about a message. */
export type ReceiptUrl = (messageId: string) => string;

/** @param publicUrl the URL by which clients reach the service, perhaps with a path */
export function createReceiptUrl(publicUrl: string, provider: string): ReceiptUrl {
  const base = `${publicUrl.replace(/\/+$/, '')}/v1/message-receipts/${provider}`;
  return (messageId) => `${base}?message=${encodeURIComponent(messageId)}`;
}
