/**
 * Whether a text can be the id that a provider gave to a message. Others are not stored: PostgreSQL refuses some of them, and the
 * message, which was accepted, would be sent again.
 */
export const isReference = (text: string): boolean => /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(text);
