//! Pages of a parquet file: what their headers announce, and what they hold.

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Seek};
use std::sync::{Mutex, MutexGuard, PoisonError};

use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use thrift::TConfiguration;
use thrift::protocol::{TCompactInputProtocol, TInputProtocol, TType};

/// Walks through the structure with which these bytes begin.
pub(super) fn check_structure(bytes: impl Read) -> Result<()> {
    protocol(bytes).skip(TType::Struct).map_err(damaged)
}

fn protocol<R: Read>(bytes: R) -> TCompactInputProtocol<R> {
    TCompactInputProtocol::with_config(bytes, TConfiguration::no_limits())
}

fn damaged(error: thrift::Error) -> ParquetError {
    ParquetError::General(format!("a header is damaged: {error}"))
}

/// What the headers of pages announce.
pub(super) struct Pages {
    /// The largest page allowed.
    largest: u64,
    /// By where the page begins behind its header.
    announced: Mutex<HashMap<u64, Page>>,
}

impl Pages {
    pub(super) fn new(largest: u64) -> Self {
        Self { largest, announced: Mutex::default() }
    }

    fn announced(&self) -> MutexGuard<'_, HashMap<u64, Page>> {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Walks through the header of a page, and remembers what it announces.
    pub(super) fn check_header<R: Read + Seek>(&self, header: &mut BufReader<R>) -> Result<()> {
        let page = Page::of_header(&mut *header).map_err(damaged)?;
        if page.unpacked > self.largest {
            return Err(too_large(self.largest));
        }
        self.announced().insert(header.stream_position()?, page);
        Ok(())
    }

    /// Looks whether these bytes, if they are a page, hold no more than is allowed, in whatever way they are packed.
    pub(super) fn check(&self, start: u64, bytes: &[u8], packings: &[Compression]) -> Result<()> {
        let Some(page) = self.announced().remove(&start) else { return Ok(()) };
        packings.iter().try_for_each(|&packing| page.check(bytes, packing, self.largest))
    }
}

fn too_large(largest: u64) -> ParquetError {
    ParquetError::General(format!("a page unpacks to more than {largest} bytes; --limit parquet-page=SIZE allows more"))
}

/// What the header of a page announces.
struct Page {
    /// How long it is unpacked.
    unpacked: u64,
    /// How much of its beginning is not packed, in two parts.
    plain: [u64; 2],
    /// Whether the rest is.
    is_packed: bool,
}

/// So deep lie the structures of a header in each other at most.
const DEEPEST: usize = 8;

impl Page {
    fn of_header(header: impl Read) -> thrift::Result<Self> {
        let mut page = Self { unpacked: 0, plain: [0; 2], is_packed: true };
        page.read(&mut protocol(header), &mut Vec::new())?;
        Ok(page)
    }

    /// Walks through the structure that begins here, which is the field of this path; the numbers of fields are those of the format's
    /// `PageHeader`. What it cannot have is refused, as others might take that for longer or shorter.
    fn read(&mut self, header: &mut TCompactInputProtocol<impl Read>, path: &mut Vec<i16>) -> thrift::Result<()> {
        let size = |number: i32| u64::try_from(number).unwrap_or(0);
        header.read_struct_begin()?;
        loop {
            let field = header.read_field_begin()?;
            if field.field_type == TType::Stop {
                return header.read_struct_end();
            }
            path.push(field.id.unwrap_or_default());
            match (path.as_slice(), field.field_type) {
                ([2], TType::I32) => self.unpacked = size(header.read_i32()?),
                ([8, part @ (5 | 6)], TType::I32) => self.plain[*part as usize - 5] = size(header.read_i32()?),
                ([8, 7], TType::Bool) => self.is_packed = header.read_bool()?,
                ([2] | [8, 5..=7], _) => return Err("a number of a page is none".into()),
                (path, TType::Struct) if path.len() < DEEPEST => self.read(header, &mut path.to_vec())?,
                (_, TType::Struct | TType::List | TType::Set | TType::Map) => {
                    return Err("a page has what no page has".into());
                }
                (_, kind) => header.skip(kind)?,
            }
            path.pop();
            header.read_field_end()?;
        }
    }

    /// Some are unpacked to whatever they hold. The others have a place that is as large as announced.
    fn check(&self, bytes: &[u8], packing: Compression, largest: u64) -> Result<()> {
        let packed =
            bytes.get(self.plain.iter().sum::<u64>() as usize..).filter(|_| self.is_packed).unwrap_or_default();
        // No byte of these is worth more.
        let can_exceed = |worth: u64| packed.len() as u64 * worth > largest;
        let unpacked: Box<dyn Read + '_> = match packing {
            Compression::GZIP(_) if can_exceed(1032) => Box::new(flate2::read::MultiGzDecoder::new(packed)),
            Compression::LZ4 if can_exceed(255) => Box::new(lz4_flex::frame::FrameDecoder::new(packed)),
            Compression::BROTLI(_) => Box::new(brotli::Decompressor::new(packed, 1 << 12)),
            _ => return Ok(()),
        };
        // What cannot be unpacked is told by the reader.
        match io::copy(&mut unpacked.take(largest.saturating_add(1)), &mut io::sink()) {
            Ok(length) if length > largest => Err(too_large(largest)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A page that announces little, and holds much: the reader itself would unpack all of it.
    #[test]
    fn pages_that_hold_more_than_they_announce_are_refused() {
        let zeros = vec![0; 64 << 20];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&zeros).unwrap();
        let mut brotli = brotli::CompressorWriter::new(Vec::new(), 1 << 16, 5, 22);
        brotli.write_all(&zeros).unwrap();
        let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
        lz4.write_all(&zeros).unwrap();
        let pages = [
            (Compression::GZIP(Default::default()), gzip.finish().unwrap()),
            (Compression::BROTLI(Default::default()), brotli.into_inner()),
            (Compression::LZ4, lz4.finish().unwrap()),
        ];
        for (packing, bytes) in pages {
            let page = |largest| Page { unpacked: 10, plain: [0; 2], is_packed: true }.check(&bytes, packing, largest);
            let most = zeros.len() as u64;
            assert!(page(most).is_ok() && page(most - 1).is_err(), "{packing}");
        }
    }
}
